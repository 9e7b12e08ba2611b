// Queries on firings, simulations of triggers, and suppressions.
import { routes, type records, type routeDeclarations, type TriggerKind } from '@lead-scoring/contracts';
import type { ExplanationReader } from '@lead-scoring/explanations';
import {
  binaryToUuid,
  findPage,
  readJson,
  uuidToBinary,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { type MilestoneTrigger, notificationIdOf } from '@lead-scoring/scoring-domain/triggers';
import { findTrigger } from '../configuration/queries.js';
import type { ConfigurationReader } from '../configuration/reader.js';
import type { ScoringReader } from '../levels/reader.js';
import type { CatchUp } from '../explanations/catch-up.js';
import { firedEvents, suppressions, type FiredDocument } from './documents.js';
import type { HistoryBounds, Range } from './history-examination.js';
import { previewSurge } from './preview-surge.js';
import { simulateMilestone, simulateSequence, simulateSurge, type IngestedSince } from './simulate.js';

type Delivery = routeDeclarations.MilestoneEvent['deliveries'][number];

export interface FiringQueriesDependencies {
  readModel: ReadModel;
  explanations: ExplanationReader;
  ingestedSince: IngestedSince;
  /** Simulates a trigger by account score. */
  simulateAccount: (
    trigger: MilestoneTrigger,
    range: Range,
    bounds: HistoryBounds,
  ) => Promise<routeDeclarations.SimulatedMilestones>;
  configurations: ConfigurationReader;
  scoring: Pick<ScoringReader, 'now'>;
  /** Simulations wait for it, so that the newest decisions are in the history. */
  catchUp: CatchUp;
  /** The deliveries of firings, by firing id. */
  deliveriesOf: (firingIds: readonly string[]) => Promise<Map<string, readonly Delivery[]>>;
  now: () => Date;
  /** Bounds of one simulation. */
  history: HistoryBounds;
}

type LeadFiring = records.MilestoneFired | records.SequenceFired | records.SurgeFired;
type FiringPayload = LeadFiring | records.AccountMilestoneFired;

interface FiringQuery {
  trigger_id?: string | undefined;
  lead_id?: string | undefined;
  account_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  page: number;
  limit: number;
  cursor?: string | undefined;
}

export function firingQueries(dependencies: FiringQueriesDependencies): BoundQuery[] {
  const { explanations, ingestedSince, configurations, scoring, catchUp, now, history } = dependencies;
  /**
   * Finds a trigger, and waits until the history for its simulation is up to date. Where that fails or takes too long, the
   * simulation uses the history that is folded.
   */
  async function triggerToSimulate<Kind extends TriggerKind>(ouId: string, kind: Kind, id: string) {
    const trigger = await findTrigger(configurations, ouId, kind, id);
    await catchUp().catch(() => false);
    return trigger;
  }
  return [
    bindQuery(routes.listMilestoneEvents, ({ query, context }) =>
      listFired(dependencies, context.ouId, { ...query, kind: 'milestone' }, milestoneOf, (fired) =>
        'account' in fired ? accountMilestone(fired) : leadMilestone(fired),
      ),
    ),
    bindQuery(routes.listSequenceEvents, ({ query, context }) =>
      listFired(dependencies, context.ouId, { ...query, kind: 'sequence' }, sequenceOf, (fired) => {
        const { trigger, cause, steps } = fired;
        return { ...leadValues(fired), trigger, cause, steps };
      }),
    ),
    bindQuery(routes.listSurgeEvents, ({ query, context }) =>
      listFired(dependencies, context.ouId, { ...query, kind: 'surge' }, surgeOf, (fired) => {
        const { trigger, cause, score_type, threshold, window_seconds, gained, from, to, event_count } =
          fired;
        const window = { window_seconds, gained, from, to, event_count };
        return { ...leadValues(fired), trigger, cause, score_type, threshold, ...window };
      }),
    ),
    bindQuery(routes.simulateTrigger, async ({ params, body, context }) => {
      const trigger = await triggerToSimulate(context.ouId, 'milestone', params.id);
      const range = rangeOf(body, now());
      if (trigger.score_type === 'account') return dependencies.simulateAccount(trigger, range, history);
      return simulateMilestone(
        { explanations, scoring: await scoring.now(context.ouId) },
        trigger,
        range,
        history,
      );
    }),
    bindQuery(routes.simulateSequence, async ({ params, body, context }) => {
      const sequence = await triggerToSimulate(context.ouId, 'sequence', params.id);
      return simulateSequence({ explanations, ingestedSince }, sequence, rangeOf(body, now()), history);
    }),
    bindQuery(routes.simulateSurgeTrigger, async ({ params, body, context }) => {
      const surge = await triggerToSimulate(context.ouId, 'surge', params.id);
      return simulateSurge(explanations, surge, rangeOf(body, now()), history);
    }),
    bindQuery(routes.previewSurgeTrigger, async ({ params, context }) => {
      const surge = await triggerToSimulate(context.ouId, 'surge', params.id);
      return previewSurge(explanations, surge, now(), history);
    }),
  ];
}

const milestoneOf = ({ json }: FiredDocument) =>
  readJson(json) as unknown as records.MilestoneFired | records.AccountMilestoneFired;
const sequenceOf = ({ json }: FiredDocument) => readJson(json) as unknown as records.SequenceFired;
const surgeOf = ({ json }: FiredDocument) => readJson(json) as unknown as records.SurgeFired;

/** The fields of a firing for a lead, whatever the kind of its trigger. */
function leadValues({ lead, score, previous_score, level, top_drivers }: LeadFiring) {
  return { lead, score, previous_score, level, top_drivers };
}

function leadMilestone(fired: records.MilestoneFired) {
  const { trigger, cause, score_type, threshold, threshold_level, previous_level, direction } = fired;
  return {
    ...leadValues(fired),
    trigger,
    cause,
    score_type,
    threshold,
    ...(threshold_level !== undefined && { threshold_level }),
    ...(previous_level !== undefined && { previous_level }),
    direction,
  };
}

function accountMilestone(fired: records.AccountMilestoneFired) {
  const { account, score, previous_score, trigger, cause, score_type, threshold, direction } = fired;
  return { account, score, previous_score, trigger, cause, score_type, threshold, direction };
}

async function listFired<Payload extends FiringPayload, Values>(
  { readModel, deliveriesOf }: FiringQueriesDependencies,
  ouId: string,
  { kind, trigger_id, lead_id, account_id, from, to, ...request }: FiringQuery & { kind: TriggerKind },
  read: (document: FiredDocument) => Payload,
  valuesOf: (fired: Payload) => Values,
) {
  const subjectId = lead_id ?? account_id;
  const filter: Filter<FiredDocument> = {
    ou: uuidToBinary(ouId),
    kind,
    ...(trigger_id !== undefined && { trigger: uuidToBinary(trigger_id) }),
    ...(subjectId !== undefined && { lead: uuidToBinary(subjectId) }),
    ...((from !== undefined || to !== undefined) && {
      fired_at: {
        ...(from !== undefined && { $gte: new Date(from) }),
        ...(to !== undefined && { $lt: new Date(to) }),
      },
    }),
  };
  const { data: found, ...page } = await findPage(readModel.collection(firedEvents), {
    filter,
    sort: { field: 'fired_at', direction: 'descending' },
    request,
    toItem: read,
  });
  const deliveries = await deliveriesOf(found.map(({ firing_id }) => firing_id));
  const data = found.map((fired) => {
    const { firing_id, fired_at, channel_ids } = fired;
    const known = new Map((deliveries.get(firing_id) ?? []).map((delivery) => [delivery.id, delivery]));
    return {
      id: firing_id,
      fired_at,
      deliveries: channel_ids.map((channel_id): Delivery => {
        const id = notificationIdOf(firing_id, channel_id);
        return { id, channel_id, status: known.get(id)?.status ?? 'pending' };
      }),
      ...valuesOf(fired),
    };
  });
  return { data, ...page };
}

const defaultRangeMs = 30 * 24 * 3_600_000;

function rangeOf(body: { from?: string | undefined; to?: string | undefined }, now: Date): Range {
  const to = body.to ?? now.toISOString();
  return { from: body.from ?? new Date(Date.parse(to) - defaultRangeMs).toISOString(), to };
}

/** The triggers among these that are silent for at least one lead now, with the number of leads. */
export async function suppressionsOf(
  readModel: ReadModel,
  ouId: string,
  triggerIds: readonly string[],
  now: Date,
): Promise<Map<string, { leads: number; last_at: string; until: string }>> {
  if (triggerIds.length === 0) return new Map();
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(suppressions)
      .find({
        ou: uuidToBinary(ouId),
        trigger: { $in: triggerIds.map(uuidToBinary) },
        until: { $gt: now },
      })
      .toArray(),
  );
  const silent = new Map<string, { leads: number; last_at: string; until: string }>();
  for (const { trigger, at, until } of found) {
    const id = binaryToUuid(trigger);
    const known = silent.get(id);
    const [last_at, latest] = [at.toISOString(), until.toISOString()];
    silent.set(id, {
      leads: (known?.leads ?? 0) + 1,
      last_at: known && known.last_at > last_at ? known.last_at : last_at,
      until: known && known.until > latest ? known.until : latest,
    });
  }
  return silent;
}
