// Every record type that contracts declares.
import { recordsOf, topics, type RecordDeclaration } from '@lead-scoring/contracts';

export function declaredRecords(): RecordDeclaration[] {
  return topics.flatMap((topic) => [...recordsOf(topic.name)]);
}
