// Reads the recorded history of a group of leads, and replays it by two configurations: what the steps of scoring's jobs share.
import type { PartitionScope } from '@lead-scoring/capability';
import type { records } from '@lead-scoring/contracts';
import type { EventLog } from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { configurationOfVersion } from '../configuration-changes/documents.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { compileRules } from '../scores/rule-model.js';
import { alwaysInForce, draftOf, type Draft } from './draft-model.js';
import { readCauses, readHappenings, type HistoryPart } from './history.js';
import { Outcomes, Replay, type ReplayedRange, type ReplayOptions, type Sides } from './replay-model.js';

/** What a step of a job reads with, whatever the kind of job. */
export interface StepSources {
  /** Called when a step begins. */
  readonly log: () => EventLog;
  readonly configurations: () => PublishedConfigurations;
}

/** What one step has. */
export interface StepContext extends StepSources {
  readonly scope: PartitionScope;
  readonly signal: AbortSignal;
}

/** The rules of an OU at a version. */
export async function configurationAt(
  { ou_id, version }: { readonly ou_id: string; readonly version: number },
  { configurations, scope }: Pick<StepContext, 'configurations' | 'scope'>,
): Promise<ScoringConfiguration> {
  const now = await loadOne(configurations(), ou_id);
  return now.version === version ? now : configurationOfVersion(scope.readModel, ou_id, version);
}

/** A draft, the version of the configuration that it changes, and the id and the time from which the ids of what it creates follow. */
export interface ComparedDraft {
  readonly ou_id: string;
  readonly job_id: string;
  readonly at: string;
  readonly work: Draft & { readonly configuration_version: number };
}

/** The live rules that a draft changes, and the same with the draft, as if both had always been in force. */
export async function configurationsOf(
  { ou_id, job_id, work, at }: ComparedDraft,
  context: Pick<StepContext, 'configurations' | 'scope'>,
): Promise<Sides<ScoringConfiguration>> {
  const live = await configurationAt({ ou_id, version: work.configuration_version }, context);
  const draft = draftOf(work, live, { job_id, at });
  if (draft.outcome === 'rejected') throw new Error(`a draft that was taken is refused: ${draft.message}`);
  return { live: alwaysInForce(live), draft: alwaysInForce(draft.configuration) };
}

/** The events that a job asks for, as they were when it began. */
export function rangeOf({ from, to }: Pick<ReplayedRange, 'from' | 'to'>, started_at: string): ReplayedRange {
  return { from, to, until: to !== undefined && to < started_at ? to : started_at };
}

/** When the leads had an outcome. */
export async function readOutcomes(
  log: EventLog,
  part: HistoryPart,
  {
    outcome,
    range,
  }: { readonly outcome: NonNullable<records.WhatIfWork['outcome']>; readonly range: ReplayedRange },
): Promise<ReadonlyMap<string, string>> {
  const outcomes = new Outcomes(outcome, range);
  for await (const causes of readCauses(log, part)) outcomes.take(causes);
  return outcomes.times;
}

/** Replays the history of leads by two configurations, up to the end. */
export async function replayed(
  log: EventLog,
  part: HistoryPart,
  {
    configurations,
    range,
    ...options
  }: ReplayOptions & {
    readonly configurations: Sides<ScoringConfiguration>;
    readonly range: ReplayedRange;
  },
): Promise<Replay> {
  const rules = { live: compileRules(configurations.live), draft: compileRules(configurations.draft) };
  const replay = new Replay(rules, range, options);
  for await (const happenings of readHappenings(log, part)) replay.take(happenings);
  const { disordered: leads } = replay;
  if (leads.size > 0)
    for await (const happenings of readHappenings(log, { ...part, leads })) replay.takeAgain(happenings);
  replay.end();
  return replay;
}
