// The what-if job. It begins with the ends of the log, so that its result is of one moment. A step is the history of one group of leads in
// one partition. Nothing of a live score is touched.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { jobIdOf, records, type JsonValue } from '@lead-scoring/contracts';
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { loadOne } from '../configuration/queries.js';
import { histograms } from '../leads/documents.js';
import { alwaysInForce, draftOf } from './draft-model.js';
import { foundIn, joinedFound } from './found-model.js';
import { leadGroup } from './history.js';
import { PointTally } from './reasons-model.js';
import {
  configurationAt,
  endsOfLog,
  rangeOf,
  readOutcomes,
  replayed,
  type StepSources,
} from './replay-group.js';
import type { Sides } from './replay-model.js';

export interface WhatIfDependencies extends StepSources {
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
  const [ends, leads] = await Promise.all([endsOfLog(log()), leadsByPartition(readModel, ou_id)]);
  const partitions = ends.map((end, partition) => ({
    ...end,
    groups: Math.max(1, Math.ceil((leads.get(partition) ?? 0) / leadsPerStep)),
  }));
  const work: Work = { kind: 'what-if', ...asked, configuration_version: live.version, partitions };
  const total = partitions.reduce((sum, { ingest_end, groups }) => sum + ingest_end * groups, 0);
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

/** The number of an OU's leads in each partition that has some. */
export async function leadsByPartition(readModel: ReadModel, ouId: string): Promise<Map<number, number>> {
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

/** Where a job goes on: with a group of leads of a partition. */
interface Place {
  readonly partition: number;
  readonly group: number;
}

function placeOf(cursor: string | null): Place {
  const [partition = 0, group = 0] = cursor?.split(' ').map(Number) ?? [];
  return { partition, group };
}

/** null: that was the last place. */
function placeAfter({ partition, group }: Place, { partitions }: Work): Place | null {
  if (group + 1 < (partitions[partition]?.groups ?? 1)) return { partition, group: group + 1 };
  return partition + 1 < partitions.length ? { partition: partition + 1, group: 0 } : null;
}

async function takeStep(job: WhatIfJob, context: StepContext): Promise<JobStep> {
  const place = placeOf(job.cursor);
  const next = placeAfter(place, job.work);
  const configurations = await configurationsOf(job, context);
  const found = await replayGroup(job, place, { ...context, configurations });
  return {
    outcome: 'advanced',
    cursor: next && `${String(next.partition)} ${String(next.group)}`,
    done: job.work.partitions[place.partition]?.ingest_end ?? 0,
    found: found as unknown as JsonValue,
    commands: [],
  };
}

/** The live rules of when the job began, and the draft of them. */
async function configurationsOf(
  { ou_id, job_id, work, started_at: at }: WhatIfJob,
  context: StepContext,
): Promise<Sides<ScoringConfiguration>> {
  const live = await configurationAt({ ou_id, version: work.configuration_version }, context);
  const draft = draftOf(work, live, { job_id, at });
  if (draft.outcome === 'rejected') throw new Error(`the draft of a what-if is refused: ${draft.message}`);
  return { live: alwaysInForce(live), draft: alwaysInForce(draft.configuration) };
}

async function replayGroup(
  { ou_id: ouId, started_at, work }: WhatIfJob,
  { partition, group }: Place,
  {
    log,
    signal,
    configurations,
  }: Pick<StepContext, 'log' | 'signal'> & { configurations: Sides<ScoringConfiguration> },
): Promise<records.WhatIfFound> {
  const { outcome, score_type, partitions } = work;
  const { groups, ...ends } = partitions[partition] ?? { groups: 1, ingest_end: 0, scoring_end: 0 };
  const part = { ouId, partition, ends, leads: leadGroup(group, groups), signal };
  const range = rangeOf(work, started_at);
  const outcomeTimes = outcome && (await readOutcomes(log(), part, { outcome, range }));
  const tallies = { live: new PointTally(score_type), draft: new PointTally(score_type) };
  const replay = await replayed(log(), part, { configurations, range, outcomeTimes, observers: tallies });
  return foundIn(replay, { configurations, score_type, tallies });
}
