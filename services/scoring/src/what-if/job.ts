// The what-if job. It begins with the ends of the log, so that its result is of one moment. A step is the history of one group of leads in
// one partition; the last steps look up, partition by partition, why the leads that moved most did. Nothing of a live score is touched.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { jobIdOf, records, type JsonValue } from '@lead-scoring/contracts';
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import { offsetToNumber, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { configurationOfVersion } from '../configuration-changes/documents.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { histograms } from '../leads/documents.js';
import { compileRules } from '../scores/rule-model.js';
import { alwaysInForce, draftOf } from './draft-model.js';
import { foundIn, foundReasons, joinedFound } from './found-model.js';
import { leadGroup, readCauses, readHappenings, type HistoryPart } from './history.js';
import { PointTally, reasonsOf } from './reasons-model.js';
import { Outcomes, Replay, type ReplayedRange, type Sides } from './replay-model.js';

export interface WhatIfDependencies {
  /** Called when a step begins. */
  readonly log: () => EventLog;
  readonly configurations: () => PublishedConfigurations;
  /** Leads of which a step keeps the state; some 3 KB each. Default 20,000. */
  readonly leadsPerStep?: number | undefined;
}

type Work = records.WhatIfWork;
type WhatIfJob = Job<Work>;

const defaultLeadsPerStep = 20_000;

export function whatIf(dependencies: WhatIfDependencies): JobKind<typeof records.startWhatIf, Work> {
  return {
    name: 'what-if',
    command: records.startWhatIf,
    isExclusive: true,
    isBesideLog: true,
    begin: (start, scope) => begin(start, scope, dependencies),
    step: (job, scope, signal) => takeStep(job, { ...dependencies, scope, signal }),
    joined: ({ found: known }, found) =>
      known === undefined
        ? found
        : (joinedFound(
            known as unknown as records.WhatIfFound,
            found as unknown as records.WhatIfFound,
          ) as unknown as JsonValue),
    startedResult: ({ job_id }) => ({ job_id: jobIdOf('scoring', job_id) }),
  };
}

async function begin(
  start: records.StartWhatIf,
  { readModel }: PartitionScope,
  { log, configurations, leadsPerStep = defaultLeadsPerStep }: WhatIfDependencies,
): Promise<Rejection | { work: Work; total: number }> {
  const { ou_id, job_id, requested_at: at } = start;
  const asked = askedOf(start);
  const live = await loadOne(configurations(), ou_id);
  const draft = draftOf(asked, live, { job_id, at });
  if (draft.outcome === 'rejected') return draft;
  const [ingest, scoring, leads] = await Promise.all([
    endOffsets(log(), 'ingest.events'),
    endOffsets(log(), 'scoring.events'),
    leadsByPartition(readModel, ou_id),
  ]);
  const partitions = ingest.map(({ partition, offset }) => ({
    ingest_end: offsetToNumber(offset),
    scoring_end: offsetToNumber(scoring.find((one) => one.partition === partition)?.offset ?? 0n),
    groups: Math.max(1, Math.ceil((leads.get(partition) ?? 0) / leadsPerStep)),
  }));
  const work: Work = { kind: 'what-if', ...asked, configuration_version: live.version, partitions };
  const total = partitions.reduce((sum, { ingest_end, groups }) => sum + ingest_end * (groups + 1), 0);
  return { work, total };
}

type Asked = Omit<records.StartWhatIf, 'ou_id' | 'job_id' | 'requested_at' | 'actor'>;

/** Fields of every command that asks for a job. */
const besidesWork = new Set(['ou_id', 'job_id', 'requested_at', 'actor']);

function askedOf(start: records.StartWhatIf): Asked {
  return Object.fromEntries(
    Object.entries(start).filter(([field]) => !besidesWork.has(field)),
  ) as unknown as Asked;
}

async function leadsByPartition(readModel: ReadModel, ouId: string): Promise<Map<number, number>> {
  const found = await readModel
    .collection(histograms)
    .find({ ou: uuidToBinary(ouId) })
    .toArray();
  return new Map(found.map(({ partition, leads }) => [partition, leads]));
}

interface StepContext extends WhatIfDependencies {
  readonly scope: PartitionScope;
  readonly signal: AbortSignal;
}

/** Where a job goes on: with a group of leads of a partition, or with the reasons of the leads that moved most there. */
interface Place {
  readonly does: 'replay' | 'explain';
  readonly partition: number;
  readonly group: number;
}

const firstPlace: Place = { does: 'replay', partition: 0, group: 0 };

function placeOf(cursor: string | null): Place {
  if (cursor === null) return firstPlace;
  const [does, partition, group] = cursor.split(' ');
  return {
    does: does === 'explain' ? 'explain' : 'replay',
    partition: Number(partition),
    group: Number(group),
  };
}

/** null: that was the last place. */
function placeAfter({ does, partition, group }: Place, { partitions }: Work): Place | null {
  if (does === 'replay' && group + 1 < (partitions[partition]?.groups ?? 1))
    return { does, partition, group: group + 1 };
  if (partition + 1 < partitions.length) return { does, partition: partition + 1, group: 0 };
  return does === 'replay' ? { does: 'explain', partition: 0, group: 0 } : null;
}

async function takeStep(job: WhatIfJob, context: StepContext): Promise<JobStep> {
  const place = placeOf(job.cursor);
  const next = placeAfter(place, job.work);
  const { log, signal } = context;
  const replaying = { log, signal, configurations: await configurationsOf(job, context) };
  const found =
    place.does === 'replay'
      ? await replayGroup(job, place, replaying)
      : await explainMovers(job, place, replaying);
  return {
    outcome: 'advanced',
    cursor: next && `${next.does} ${String(next.partition)} ${String(next.group)}`,
    done: job.work.partitions[place.partition]?.ingest_end ?? 0,
    ...(found && { found: found as unknown as JsonValue }),
    commands: [],
  };
}

/** The live rules of when the job began, and the draft of them. */
async function configurationsOf(
  { ou_id, job_id, work, started_at: at }: WhatIfJob,
  { configurations, scope }: StepContext,
): Promise<Sides<ScoringConfiguration>> {
  const now = await loadOne(configurations(), ou_id);
  const live =
    now.version === work.configuration_version
      ? now
      : await configurationOfVersion(scope.readModel, ou_id, work.configuration_version);
  const draft = draftOf(work, live, { job_id, at });
  if (draft.outcome === 'rejected') throw new Error(`the draft of a what-if is refused: ${draft.message}`);
  return { live: alwaysInForce(live), draft: alwaysInForce(draft.configuration) };
}

interface ReplayContext extends Pick<StepContext, 'log' | 'signal'> {
  readonly configurations: Sides<ScoringConfiguration>;
}

function rangeOf({ work: { from, to }, started_at }: WhatIfJob): ReplayedRange {
  return { from, to, until: to !== undefined && to < started_at ? to : started_at };
}

function partOf(
  { ou_id, work }: WhatIfJob,
  partition: number,
  { leads, signal }: Pick<HistoryPart, 'leads' | 'signal'>,
): HistoryPart {
  const ends = work.partitions[partition] ?? { ingest_end: 0, scoring_end: 0 };
  return { ouId: ou_id, partition, ends, leads, signal };
}

async function replayGroup(
  job: WhatIfJob,
  { partition, group }: Place,
  { log, signal, configurations }: ReplayContext,
): Promise<records.WhatIfFound> {
  const { outcome, score_type, partitions } = job.work;
  const leads = leadGroup(group, partitions[partition]?.groups ?? 1);
  const part = partOf(job, partition, { leads, signal });
  const range = rangeOf(job);
  const outcomes = outcome && new Outcomes(outcome, range);
  if (outcomes) for await (const causes of readCauses(log(), part)) outcomes.take(causes);
  const rules = { live: compileRules(configurations.live), draft: compileRules(configurations.draft) };
  const replay = new Replay(rules, range, outcomes?.times);
  for await (const happenings of readHappenings(log(), part)) replay.take(happenings);
  replay.end();
  return foundIn(replay, { configurations, score_type, partition });
}

/** Replays the leads of a partition that moved most once more, and keeps what gave them points; null: there are none. */
async function explainMovers(
  job: WhatIfJob,
  { partition }: Place,
  { log, signal, configurations }: ReplayContext,
): Promise<records.WhatIfFound | null> {
  const found = job.found as unknown as records.WhatIfFound | undefined;
  const movers = (found?.movers ?? []).filter((mover) => mover.partition === partition);
  if (movers.length === 0) return null;
  const { score_type } = job.work;
  const tallies = { live: new PointTally(score_type), draft: new PointTally(score_type) };
  const rules = { live: compileRules(configurations.live), draft: compileRules(configurations.draft) };
  const replay = new Replay(rules, rangeOf(job), undefined, tallies);
  const leads = new Set(movers.map(({ lead_id }) => lead_id));
  for await (const happenings of readHappenings(log(), partOf(job, partition, { leads, signal })))
    replay.take(happenings);
  replay.end();
  return foundReasons(
    movers.map((mover) => ({ ...mover, why: reasonsOf(mover.lead_id, tallies, configurations) })),
  );
}
