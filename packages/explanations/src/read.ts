// The explanation of a lead's score as of now, put together when it is asked for.
import {
  emptyConfiguration,
  explainScore,
  publicExplanation,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { readConfigurations } from './configurations.js';
import { scoreHistory, type HistoryPoint } from './history-model.js';
import { decisionKeysBetween, decisions, leadKey, sharedLeads, toDecision, toLead } from './model.js';
import { nameOf, type SharedLead } from './state.js';
import { isSameLead, type ExplanationSource } from './whole.js';

/** Event times that drivers cover: as GET /lead/{id}/score-explain has it without a range of the caller's. */
const rangeHours = 720;

export interface ReadExplanation {
  explanation: routeDeclarations.PublicScoreExplanation;
  /** What the score is called; the page shows it, the public form has no place for it. */
  level: routeDeclarations.LeadLevel | null;
  history: HistoryPoint[];
  computed_at: string;
}

export interface FoundLead extends SharedLead {
  partition: number;
}

/** null: the OU has no such lead, as far as is folded. A lead may be found a moment before it can be explained. */
export async function findLead(
  readModel: ReadModel,
  { ou_id, lead_id }: { ou_id: string; lead_id: string },
): Promise<FoundLead | null> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(sharedLeads).findOne({ _id: leadKey(ou_id, lead_id) }),
  );
  return found && { ...toLead(found, { ou_id, lead_id }), partition: found.partition };
}

/** null: the lead that was found is removed, or not folded whole yet. */
export async function readExplanation(
  { readModel, foldedUpTo }: ExplanationSource,
  { ou_id, id, first_offset, partition }: FoundLead,
  now: Date,
): Promise<ReadExplanation | null> {
  const end = (await foldedUpTo([partition]))(partition);
  if (first_offset >= end) return null;
  const [led, [configuration = emptyConfiguration(ou_id)]] = await Promise.all([
    withClassifiedErrors(() =>
      readModel
        .collection(decisions)
        .find({ _id: decisionKeysBetween(ou_id, id, first_offset, end - 1) })
        .sort({ _id: 1 })
        .toArray(),
    ),
    readConfigurations(readModel, [ou_id]),
  ]);
  const lead = await findLead(readModel, { ou_id, lead_id: id });
  if (!lead || !isSameLead({ first_offset }, lead)) return null;
  const explained = led.map(toDecision);
  const score = explained.at(-1)?.score ?? 0;
  // Everything counts that is decided, whatever the clocks of other machines say.
  const at = explained.reduce(
    (time, { decided_at }) => (decided_at > time ? decided_at : time),
    now.toISOString(),
  );
  const request = { at, range_hours: rangeHours };
  const explanation = explainScore(
    { id, name: nameOf(lead), score },
    explained,
    configuration,
    configuration,
    request,
  );
  return {
    explanation: publicExplanation(explanation),
    level: explanation.level,
    history: scoreHistory(score, explained, request),
    computed_at: at,
  };
}
