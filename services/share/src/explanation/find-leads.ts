// Whether leads are there, as of now: what is folded may be a moment behind what callers have already seen elsewhere.
import { projectorNames } from '@lead-scoring/contracts';
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import { leadKey, sharedLeads } from '@lead-scoring/explanations';
import {
  createCheckpoints,
  createPositionWatch,
  findStoredIds,
  keyOf,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { FindLeads } from '../links/partition-state.js';

export const [projectorName] = projectorNames.share;

/** Looks leads up; for one that is missing, first waits until all is folded that scoring had decided by then. */
export function createFindLeads(
  readModel: ReadModel,
  log: EventLog,
  { timeoutMs }: { timeoutMs: number },
): FindLeads {
  const collection = readModel.collection(sharedLeads);
  const watch = createPositionWatch(createCheckpoints(readModel), projectorName);

  async function find(wanted: readonly { ou_id: string; lead_id: string }[]): Promise<Set<string>> {
    const found = await findStoredIds(
      collection,
      wanted.map(({ ou_id, lead_id }) => leadKey(ou_id, lead_id)),
    );
    return new Set(found.map(keyOf));
  }

  return async (wanted) => {
    const there = await find(wanted);
    const missing = wanted.filter(({ ou_id, lead_id }) => !there.has(keyOf(leadKey(ou_id, lead_id))));
    let caughtUp = true;
    if (missing.length > 0) {
      const partitions = [...new Set(missing.map(({ lead_id }) => log.partitionOf(lead_id)))];
      const ends = await endOffsets(log, 'scoring.events', partitions);
      caughtUp = (await watch.wait('scoring.events', ends, timeoutMs)) !== null;
      for (const key of await find(missing)) there.add(key);
    }
    return (ouId, leadId) => {
      if (there.has(keyOf(leadKey(ouId, leadId)))) return 'present';
      return caughtUp ? 'absent' : 'unknown';
    };
  };
}
