// The plan of a job that replays the recorded history: so many groups of leads in each partition, up to the ends that the log had when
// the job began, so that its result is of one moment.
import type { JobStep } from '@lead-scoring/capability';
import { jobIdOf, type JsonValue, type records } from '@lead-scoring/contracts';
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import { offsetToNumber, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { histograms } from '../leads/documents.js';
import { leadGroup, type HistoryPart } from '../what-if/history.js';
import { joinedFound } from '../what-if/found-model.js';
import type { StepSources } from '../what-if/replay-group.js';
import type { TaskPerformer } from './replay-tasks.js';

/** The same for every kind of job that reads the recorded history: one at a time in an OU, in steps beside the log. */
export const besideLog = {
  isExclusive: true,
  isBesideLog: true,
  startedResult: ({ job_id }: { job_id: string }) => ({ job_id: jobIdOf('scoring', job_id) }),
} as const;

export interface ReplayDependencies extends StepSources {
  /** Leads of which a step keeps the state; some 3 KB each. Default 10,000. */
  readonly leadsPerStep?: number | undefined;
  /** Performs what steps compute. */
  readonly tasks: TaskPerformer;
}

interface ReplayingJob {
  readonly ou_id: string;
  readonly cursor: string | null;
  readonly work: { readonly partitions: readonly records.ReplayedPartition[] };
}

export const defaultLeadsPerStep = 10_000;

/** The ends of the log when a job begins, by partition: its result is of one moment. */
export async function endsOfLog(log: EventLog): Promise<HistoryPart['ends'][]> {
  const [ingest, scoring] = await Promise.all([
    endOffsets(log, 'ingest.events'),
    endOffsets(log, 'scoring.events'),
  ]);
  return ingest.map(({ partition, offset }) => ({
    ingest_end: offsetToNumber(offset),
    scoring_end: offsetToNumber(scoring.find((one) => one.partition === partition)?.offset ?? 0n),
  }));
}

/** The history of an OU when a job begins, by partition: where the log ends, and which types are deleted. */
export async function historyOfNow(
  log: EventLog,
  readModel: ReadModel,
  ouId: string,
): Promise<Omit<records.ReplayedPartition, 'groups'>[]> {
  const [ends, deleted] = await Promise.all([endsOfLog(log), readDeletedTypes(readModel, ouId)]);
  return ends.map((end, partition) => {
    const types = deleted.get(partition);
    return { ...end, ...(types && { deleted: [...types] }) };
  });
}

/**
 * @param starts by partition, where the reading begins; absent: at the beginning of the log
 * @returns the plan, and the records that are to be read
 */
export async function planOf(
  ouId: string,
  readModel: ReadModel,
  { log, leadsPerStep = defaultLeadsPerStep }: Pick<ReplayDependencies, 'log' | 'leadsPerStep'>,
  starts: readonly NonNullable<HistoryPart['from']>[] = [],
): Promise<{ partitions: records.ReplayedPartition[]; total: number }> {
  const [ends, leads] = await Promise.all([
    historyOfNow(log(), readModel, ouId),
    leadsByPartition(readModel, ouId),
  ]);
  const partitions = ends.map((end, partition) => ({
    ...end,
    // A record is about one lead, so that a short range has no more leads than records.
    groups: groupsOf(
      Math.min(leads.get(partition) ?? 0, end.ingest_end - (starts[partition]?.ingest ?? 0)),
      leadsPerStep,
    ),
  }));
  return {
    partitions,
    total: partitions.reduce((sum, { ingest_end, groups }) => sum + ingest_end * groups, 0),
  };
}

function groupsOf(leads: number, leadsPerStep: number): number {
  return Math.max(1, Math.ceil(leads / leadsPerStep));
}

/** The number of an OU's leads in each partition that has some. */
export async function leadsByPartition(readModel: ReadModel, ouId: string): Promise<Map<number, number>> {
  const found = await readModel
    .collection(histograms)
    .find({ ou: uuidToBinary(ouId) })
    .toArray();
  return new Map(found.map(({ partition, leads }) => [partition, leads]));
}

/** A step of a plan: a group of leads. */
export interface PlannedStep {
  readonly part: HistoryPart;
  /** Which of the groups of its partition it is. */
  readonly group: number;
  readonly groups: number;
  /** Records that it reads. */
  readonly done: number;
  /** Of the next step; null: this is the last one. */
  readonly cursor: string | null;
}

/** The steps that are next, one after another. */
export function plannedSteps(job: ReplayingJob, count: number, signal: AbortSignal): PlannedStep[] {
  const step = plannedStep(job, signal);
  if (count <= 1 || step.cursor === null) return [step];
  return [step, ...plannedSteps({ ...job, cursor: step.cursor }, count - 1, signal)];
}

/**
 * The outcome of steps that were taken at the same time.
 * @param found of each of them
 * @param next where the job goes on after its last planned step; null: it ends with it
 */
export function stepsTaken(
  steps: readonly PlannedStep[],
  found: readonly records.WhatIfFound[],
  next: string | null = null,
): JobStep {
  return {
    outcome: 'advanced',
    cursor: steps.at(-1)?.cursor ?? next,
    done: steps.reduce((sum, { done }) => sum + done, 0),
    found: found.reduce(joinedFound) as unknown as JsonValue,
    commands: [],
  };
}

const noPartition: records.ReplayedPartition = { groups: 1, ingest_end: 0, scoring_end: 0 };

/** The step at which a job is. */
export function plannedStep(
  { ou_id, cursor, work: { partitions } }: ReplayingJob,
  signal: AbortSignal,
): PlannedStep {
  const [partition = 0, group = 0] = cursor?.split(' ').map(Number) ?? [];
  const { groups, deleted, ...ends } = partitions[partition] ?? noPartition;
  const next =
    group + 1 < groups
      ? [partition, group + 1]
      : partition + 1 < partitions.length
        ? [partition + 1, 0]
        : null;
  return {
    part: {
      ouId: ou_id,
      partition,
      ends,
      leads: leadGroup(group, groups),
      signal,
      ...(deleted && { deleted }),
    },
    group,
    groups,
    done: ends.ingest_end,
    cursor: next && next.join(' '),
  };
}
