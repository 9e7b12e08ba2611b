// The explanation of a lead's score as of now, put together when it is asked for.
import {
  emptyConfiguration,
  explainScore,
  publicExplanation,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { scoreHistory, type HistoryPoint } from './history-model.js';
import {
  configurations,
  decisionKeysBetween,
  decisions,
  leadKey,
  sharedLeads,
  toConfiguration,
  toDecision,
  toLead,
} from './model.js';
import { nameOf, type SharedLead } from './state.js';

/** Event times that drivers cover: as GET /lead/{id}/score-explain has it without a range of the caller's. */
const rangeHours = 720;

export interface ReadExplanation {
  explanation: routeDeclarations.PublicScoreExplanation;
  /** What the score is called; the page shows it, the public form has no place for it. */
  level: routeDeclarations.LeadLevel | null;
  history: HistoryPoint[];
  computed_at: string;
}

/** null: the OU has no such lead. */
export async function findLead(
  readModel: ReadModel,
  { ou_id, lead_id }: { ou_id: string; lead_id: string },
): Promise<SharedLead | null> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(sharedLeads).findOne({ _id: leadKey(ou_id, lead_id) }),
  );
  return found && toLead(found, { ou_id, lead_id });
}

/** @param lead as stored: decisions are stored before the lead that counts them, so up to its offset none is missing */
export async function readExplanation(
  readModel: ReadModel,
  lead: SharedLead,
  now: Date,
): Promise<ReadExplanation> {
  const { ou_id, id, first_offset, offset } = lead;
  return withClassifiedErrors(async () => {
    const [led, rules] = await Promise.all([
      readModel
        .collection(decisions)
        .find({ _id: decisionKeysBetween(ou_id, id, first_offset, offset) })
        .sort({ _id: 1 })
        .toArray(),
      readModel.collection(configurations).findOne({ _id: uuidToBinary(ou_id) }),
    ]);
    const explained = led.map(toDecision);
    const configuration = rules ? toConfiguration(rules) : emptyConfiguration(ou_id);
    // Everything counts that is decided, whatever the clocks of other machines say.
    const at = explained.reduce(
      (time, { decided_at }) => (decided_at > time ? decided_at : time),
      now.toISOString(),
    );
    const request = { at, range_hours: rangeHours };
    const explanation = explainScore(
      { id, name: nameOf(lead), score: lead.score },
      explained,
      configuration,
      configuration,
      request,
    );
    return {
      explanation: publicExplanation(explanation),
      level: explanation.level,
      history: scoreHistory(lead.score, explained, request),
      computed_at: at,
    };
  });
}
