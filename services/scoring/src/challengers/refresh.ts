// Brings the figures of a challenger up to date: what a what-if from its start on would find now, computed in the threads of scoring's jobs.
import { records } from '@lead-scoring/contracts';
import type { PartitionScope } from '@lead-scoring/capability';
import { planOf, plannedSteps, type ReplayDependencies } from '../jobs/replay-plan.js';
import { compileRules } from '../scores/rule-model.js';
import { readTriggers, type DefinedTrigger } from '../trigger-definitions/documents.js';
import { joinedFound } from '../what-if/found-model.js';
import type { HistoryPart } from '../what-if/history.js';
import { configurationsOf, rangeOf } from '../what-if/replay-group.js';
import { isEvaluated } from '../what-if/trigger-model.js';
import type { Challenger } from './decide.js';
import { noteUnchanged, readFigures, storeFigures, type Figures } from './documents.js';

export interface RefreshContext extends ReplayDependencies {
  readonly scope: PartitionScope;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/** Milliseconds after which figures are computed again although nothing has come: points of decay rules fade with time alone. */
const fadesAfterMs = 10 * 60_000;

type Compared = Awaited<ReturnType<typeof configurationsOf>>;
type Plan = Awaited<ReturnType<typeof planOf>>['partitions'];

/** @returns whether the figures had to be computed */
export async function refresh(
  ou_id: string,
  challenger: Challenger,
  context: RefreshContext,
): Promise<boolean> {
  const { challenger_id, at, starts } = challenger;
  const { partition, readModel } = context.scope;
  // Before the ends are read: all that was recorded by then is in the figures.
  const as_of = context.now().toISOString();
  const [known, configurations, triggers, { partitions }] = await Promise.all([
    readFigures(readModel, [challenger_id]),
    configurationsOf({ ou_id, job_id: challenger_id, work: challenger, at }, context),
    triggersOf(ou_id, context),
    planOf(ou_id, readModel, context, starts),
  ]);
  const basis = {
    ends: partitions.map(endsOf),
    triggers: triggers.map(({ id, at: since }) => ({ id, at: since })),
  };
  const before = known.get(challenger_id);
  if (before && !(await hasChanged(ou_id, before, { ...basis, as_of, configurations }, context))) {
    const { ends } = basis;
    await noteUnchanged(readModel, challenger_id, fades(configurations) ? { ends } : { ends, as_of });
    return false;
  }
  const found = await foundIn({ ou_id, challenger, as_of, configurations, triggers, partitions }, context);
  await storeFigures(readModel, { challenger_id, partition }, { found, ...basis, as_of });
  return true;
}

async function triggersOf(ouId: string, { scope }: RefreshContext): Promise<DefinedTrigger[]> {
  const defined = await readTriggers(scope.readModel, ouId);
  return defined.filter(isEvaluated).slice(0, records.whatIfLimits.triggers);
}

const endsOf = ({ ingest_end, scoring_end }: Plan[number]): HistoryPart['ends'] => ({
  ingest_end,
  scoring_end,
});

/** Whether anything has come that the figures depend on. */
async function hasChanged(
  ouId: string,
  before: Figures,
  now: Omit<Figures, 'found'> & { readonly configurations: Compared },
  { tasks, signal }: RefreshContext,
): Promise<boolean> {
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  if (!same(before.triggers, now.triggers)) return true;
  if (fades(now.configurations) && Date.parse(now.as_of) - Date.parse(before.as_of) >= fadesAfterMs)
    return true;
  if (same(before.ends, now.ends)) return false;
  return tasks.perform('news', { ouId, from: before.ends, to: now.ends }, signal);
}

/** Whether scores fall while nothing happens. */
function fades({ live, draft }: Compared): boolean {
  return [live, draft].some((configuration) => compileRules(configuration).decays !== null);
}

/** One group of leads after the other, so that a challenger takes one thread. */
async function foundIn(
  {
    ou_id,
    challenger: { at, starts, score_type, outcome },
    as_of,
    configurations,
    triggers,
    partitions,
  }: {
    readonly ou_id: string;
    readonly challenger: Challenger;
    readonly as_of: string;
    readonly configurations: Compared;
    readonly triggers: readonly DefinedTrigger[];
    readonly partitions: Plan;
  },
  { tasks, signal }: RefreshContext,
): Promise<records.WhatIfFound> {
  const asked = { configurations, range: rangeOf({ from: at }, as_of), score_type, outcome, triggers };
  const found: records.WhatIfFound[] = [];
  const steps = plannedSteps({ ou_id, cursor: null, work: { partitions } }, Infinity, signal);
  for (const {
    part: { signal: cancelled, ...part },
  } of steps) {
    const from = starts[part.partition];
    const group = { ...asked, part: { ...part, ...(from && { from }) } };
    found.push(await tasks.perform('what-if', group, cancelled));
  }
  return found.reduce(joinedFound);
}
