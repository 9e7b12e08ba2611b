// Reads all decisions of an OU lead by lead, for what-if computations.
import { findByIds, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { withoutDeletedEvents, type ScoreDecision } from '@lead-scoring/scoring-domain';
import {
  decisionKeysBetween,
  decisions,
  leadIdOf,
  leadKey,
  offsetOf,
  sharedLeads,
  toScoreDecision,
} from './model.js';
import { nameOf } from './state.js';
import type { ExplanationSource } from './whole.js';

const lowest = '00000000-0000-0000-0000-000000000000';
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const pageSize = 1_000;

/**
 * The stored decisions (`isStored`) of an OU before the checkpoint at the start of the reading. Decisions on one lead
 * follow each other in the order in which they were made, so the last one has the lead's score.
 */
export async function* decisionsOf(
  { readModel, foldedUpTo }: ExplanationSource,
  ouId: string,
): AsyncIterable<ScoreDecision> {
  const collection = readModel.collection(decisions);
  const endOf = await foldedUpTo();
  const end = decisionKeysBetween(ouId, highest, 0, Number.MAX_SAFE_INTEGER).$lte;
  let after = decisionKeysBetween(ouId, lowest, 0, 0).$gte;
  let ofLead: ScoreDecision[] = [];
  for (;;) {
    const page = await withClassifiedErrors(() =>
      collection
        .find({ _id: { $gt: after, $lte: end } })
        .sort({ _id: 1 })
        .limit(pageSize)
        .toArray(),
    );
    for (const document of page) {
      if (offsetOf(document) >= endOf(document.partition)) continue;
      const decision = toScoreDecision(document);
      if (decision.lead_id !== ofLead[0]?.lead_id) {
        yield* withoutDeletedEvents(ofLead);
        ofLead = [];
      }
      ofLead.push(decision);
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) break;
    after = last._id;
  }
  yield* withoutDeletedEvents(ofLead);
}

/** The displayed names of leads; unknown leads are left out. */
export async function readNames(
  readModel: ReadModel,
  ouId: string,
  leadIds: readonly string[],
): Promise<Map<string, string>> {
  const found = await findByIds(
    readModel.collection(sharedLeads),
    leadIds.map((id) => leadKey(ouId, id)),
  );
  return new Map(
    found.map((document) => {
      const id = leadIdOf(document);
      return [id, nameOf({ ...document, id })];
    }),
  );
}
