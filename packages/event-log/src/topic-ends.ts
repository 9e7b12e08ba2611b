// Where a topic ends now: everything before is what its readers must have seen to know what others know already.
import type { TopicName } from '@lead-scoring/contracts';
import type { EventLog } from './event-log.js';
import { endOffsets } from './operations.js';
import type { PositionToReach } from './position-watch.js';
import { pause } from './timing.js';

export interface TopicEnds {
  /** The ends of the partitions of these keys, or of all partitions, as of a look that begins after this call. */
  of(keys?: Iterable<string>): Promise<PositionToReach[]>;
}

const pauseBetweenLooksMs = 10;

/** All callers share each look: whoever asks a thousand times loads the brokers like one. */
export function createTopicEnds(log: EventLog, topic: TopicName): TopicEnds {
  let next: Promise<PositionToReach[]> | undefined;
  let mayLook: Promise<unknown> = Promise.resolve();

  function look(): Promise<PositionToReach[]> {
    next ??= mayLook.then(() => {
      next = undefined;
      const ends = endOffsets(log, topic);
      mayLook = ends.catch(() => undefined).then(() => pause(pauseBetweenLooksMs));
      return ends;
    });
    return next;
  }

  return {
    of: async (keys) => {
      const ends = await look();
      if (!keys) return ends;
      const wanted = new Set([...keys].map((key) => log.partitionOf(key)));
      return ends.filter(({ partition }) => wanted.has(partition));
    },
  };
}
