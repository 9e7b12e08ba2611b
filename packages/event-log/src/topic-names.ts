// Wire names of topics.
import type { TopicName } from '@lead-scoring/contracts';

/** A topic's name on the wire: `<namespace>.<topic>`. */
export function wireTopic(namespace: string, topic: TopicName): string {
  return `${namespace}.${topic}`;
}
