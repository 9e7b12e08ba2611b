// What led to scores, for many leads at a time: their names, and the rules that contributed most.
import {
  emptyConfiguration,
  explainScore,
  type routeDeclarations,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import { keyOf, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
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
import { nameOf } from './state.js';

export interface LeadDrivers {
  name: string;
  /** As of the last decision that is folded. */
  score: number;
  /** As of the last decision that was asked for, whenever the events were. */
  top_drivers: routeDeclarations.ScoreExplanation['top_drivers'];
  /** The OU's, as of now. */
  levels: ScoringConfiguration['levels'];
  /** Where the last decision that is folded is on the log. */
  offset: number;
}

export interface DriversRequest {
  ou_id: string;
  lead_id: string;
  /** Offset of the last decision that counts; absent: all count that are folded. */
  up_to?: number;
}

/** All of the past: what the drivers gave, together, is the score. */
const rangeHours = Number.MAX_SAFE_INTEGER;
/** Decisions that are looked at for one lead: the newest. */
const maximumDecisions = 5_000;
/** Leads whose decisions are read at one time. */
const atATime = 16;

/** In the order of the requests; null for a lead that the OU does not have, as far as is folded. */
export async function readDrivers(
  readModel: ReadModel,
  requests: readonly DriversRequest[],
): Promise<(LeadDrivers | null)[]> {
  if (requests.length === 0) return [];
  return withClassifiedErrors(async () => {
    const [leads, rules] = await Promise.all([
      readModel
        .collection(sharedLeads)
        .find({ _id: { $in: requests.map(({ ou_id, lead_id }) => leadKey(ou_id, lead_id)) } })
        .toArray(),
      readModel
        .collection(configurations)
        .find({ _id: { $in: [...new Set(requests.map(({ ou_id }) => ou_id))].map(uuidToBinary) } })
        .toArray(),
    ]);
    const leadByKey = new Map(leads.map((document) => [keyOf(document._id), document]));
    const ruleByOu = new Map<string, ScoringConfiguration>(
      rules.map(toConfiguration).map((configuration) => [configuration.ou_id, configuration]),
    );
    const read = async ({ ou_id, lead_id, up_to }: DriversRequest): Promise<LeadDrivers | null> => {
      const found = leadByKey.get(keyOf(leadKey(ou_id, lead_id)));
      if (!found) return null;
      const lead = toLead(found, { ou_id, lead_id });
      const name = nameOf(lead);
      const led = await readModel
        .collection(decisions)
        .find({ _id: decisionKeysBetween(ou_id, lead_id, lead.first_offset, up_to ?? lead.offset) })
        .sort({ _id: -1 })
        .limit(maximumDecisions)
        .toArray();
      const explained = led.map(toDecision).reverse();
      const at = explained.reduce((time, { decided_at }) => (decided_at > time ? decided_at : time), '');
      const configuration = ruleByOu.get(ou_id) ?? emptyConfiguration(ou_id);
      const { levels } = configuration;
      const { score, offset } = lead;
      if (at === '') return { name, score, top_drivers: [], levels, offset };
      const { top_drivers } = explainScore(
        { id: lead_id, name, score },
        explained,
        configuration,
        configuration,
        { at, range_hours: rangeHours },
      );
      return { name, score, top_drivers, levels, offset };
    };
    const answers: (LeadDrivers | null)[] = [];
    for (let from = 0; from < requests.length; from += atATime)
      answers.push(...(await Promise.all(requests.slice(from, from + atATime).map(read))));
    return answers;
  });
}
