// What led to scores, for many leads at a time: their names, and the rules that contributed most.
import {
  emptyConfiguration,
  explainScore,
  type routeDeclarations,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import {
  findByIds,
  keyOf,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
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
import { isSameLead, type ExplanationSource } from './whole.js';

export interface LeadDrivers {
  name: string;
  /** As of the last decision that counts. */
  score: number;
  /** As of the last decision that counts, whenever the events were. */
  top_drivers: routeDeclarations.ScoreExplanation['top_drivers'];
  /** The OU's, as of now. */
  levels: ScoringConfiguration['levels'];
  /** Where the last decision that counts is on the log. */
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

/** In the order of the requests; null for a lead that the OU does not have up to there, or that was removed since. */
export async function readDrivers(
  { readModel, foldedUpTo }: ExplanationSource,
  requests: readonly DriversRequest[],
): Promise<(LeadDrivers | null)[]> {
  if (requests.length === 0) return [];
  const [leadOf, configurationOf] = await Promise.all([
    findLeads(readModel, requests),
    findConfigurations(readModel, requests),
  ]);
  const endOf = await foldedUpTo([
    ...new Set(requests.flatMap((request) => leadOf(request)?.partition ?? [])),
  ]);
  const answers: (LeadDrivers | null)[] = [];
  for (let from = 0; from < requests.length; from += atATime)
    answers.push(
      ...(await Promise.all(
        requests.slice(from, from + atATime).map(async (request) => {
          const lead = leadOf(request);
          if (!lead) return null;
          const to = Math.min(request.up_to ?? Infinity, endOf(lead.partition) - 1);
          if (lead.first_offset > to) return null;
          return driversOf(readModel, toLead(lead, request), to, configurationOf(request));
        }),
      )),
    );
  const leadOfNow = await findLeads(readModel, requests);
  return requests.map((request, index) => {
    const lead = leadOf(request);
    return lead && isSameLead(lead, leadOfNow(request)) ? (answers[index] ?? null) : null;
  });
}

/** @param to offset of the last decision that counts */
async function driversOf(
  readModel: ReadModel,
  lead: SharedLead,
  to: number,
  configuration: ScoringConfiguration,
): Promise<LeadDrivers> {
  const { id, ou_id, first_offset } = lead;
  const { levels } = configuration;
  const name = nameOf(lead);
  const led = await withClassifiedErrors(() =>
    readModel
      .collection(decisions)
      .find({ _id: decisionKeysBetween(ou_id, id, first_offset, to) })
      .sort({ _id: -1 })
      .limit(maximumDecisions)
      .toArray(),
  );
  const explained = led.map(toDecision).reverse();
  const last = explained.at(-1);
  // As leads without points were stored before the decision that makes a lead was.
  if (!last) return { name, score: 0, top_drivers: [], levels, offset: first_offset };
  const { score, offset } = last;
  const at = explained.reduce((time, { decided_at }) => (decided_at > time ? decided_at : time), '');
  const { top_drivers } = explainScore({ id, name, score }, explained, configuration, configuration, {
    at,
    range_hours: rangeHours,
  });
  return { name, score, top_drivers, levels, offset };
}

async function findLeads(readModel: ReadModel, requests: readonly DriversRequest[]) {
  const found = await findByIds(
    readModel.collection(sharedLeads),
    requests.map(({ ou_id, lead_id }) => leadKey(ou_id, lead_id)),
  );
  const byKey = new Map(found.map((document) => [keyOf(document._id), document]));
  return ({ ou_id, lead_id }: DriversRequest) => byKey.get(keyOf(leadKey(ou_id, lead_id)));
}

async function findConfigurations(readModel: ReadModel, requests: readonly DriversRequest[]) {
  const found = await findByIds(
    readModel.collection(configurations),
    [...new Set(requests.map(({ ou_id }) => ou_id))].map(uuidToBinary),
  );
  const byOu = new Map<string, ScoringConfiguration>(
    found.map(toConfiguration).map((configuration) => [configuration.ou_id, configuration]),
  );
  return ({ ou_id }: DriversRequest) => byOu.get(ou_id) ?? emptyConfiguration(ou_id);
}
