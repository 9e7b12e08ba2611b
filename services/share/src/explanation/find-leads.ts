// Looks up whether leads exist. The fold may lag behind events that callers have already seen elsewhere.
import { createFoldWatch } from '@lead-scoring/capability';
import { createTopicEnds, waitUntilConsumed, type EventLog } from '@lead-scoring/event-log';
import { leadKey, sharedLeads } from '@lead-scoring/explanations';
import { findStoredIds, keyOf, offsetToNumber, type ReadModel } from '@lead-scoring/read-model';
import type { LeadPresence } from '../links/decide.js';
import type { FindLeads } from '../links/capability.js';
import { explanationsName } from './capability.js';

/**
 * Looks leads up; for a missing one, first waits until scoring has decided the record that the command names, and until all
 * decisions up to then are folded.
 */
export function createFindLeads(
  readModel: ReadModel,
  log: EventLog,
  options: { timeoutMs: number },
): FindLeads {
  const collection = readModel.collection(sharedLeads);
  const folded = createFoldWatch(readModel, explanationsName, options);
  const recorded = createTopicEnds(log, 'scoring.events');

  async function find(wanted: readonly { ou_id: string; lead_id: string }[]): Promise<Set<string>> {
    const found = await findStoredIds(
      collection,
      wanted.map(({ ou_id, lead_id }) => leadKey(ou_id, lead_id)),
    );
    return new Set(found.map(keyOf));
  }

  const endsFor = (leads: readonly { lead_id: string }[]) => recorded.of(leads.map(({ lead_id }) => lead_id));

  async function decidedOn(leads: Parameters<FindLeads>[0]): Promise<boolean> {
    const ingested = leads.flatMap(({ lead_id, lead_seen_in }) =>
      lead_seen_in?.topic === 'ingest.events'
        ? [{ partition: log.partitionOf(lead_id), offset: BigInt(lead_seen_in.offset) }]
        : [],
    );
    if (ingested.length === 0) return true;
    return waitUntilConsumed(log, 'scoring', 'ingest.events', ingested, options);
  }

  return async (wanted) => {
    const there = await find(wanted);
    const missing = wanted.filter(({ ou_id, lead_id }) => !there.has(keyOf(leadKey(ou_id, lead_id))));
    let caughtUp = true;
    if (missing.length > 0) {
      caughtUp = await decidedOn(missing);
      caughtUp &&= (await folded.until('scoring.events', await endsFor(missing))) !== null;
      for (const key of await find(missing)) there.add(key);
    }
    // Read after the leads were found, so that the ends lie behind the leads' first decisions.
    const ends = new Map(
      (there.size > 0 ? await endsFor(wanted) : []).map(({ partition, offset }) => [partition, offset]),
    );
    return (ouId, leadId): LeadPresence => {
      if (!there.has(keyOf(leadKey(ouId, leadId)))) return caughtUp ? 'absent' : 'unknown';
      return { scoring_offset: offsetToNumber(ends.get(log.partitionOf(leadId)) ?? 0n) };
    };
  };
}
