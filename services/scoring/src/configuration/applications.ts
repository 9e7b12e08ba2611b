// Commands that make a draft live which was tried before: the draft of a what-if or of a challenger.
import { findJob, type Job, type PartitionScope } from '@lead-scoring/capability';
import { actedBy, records } from '@lead-scoring/contracts';
import type { OutgoingRecord } from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { applyChallenger } from '../challengers/apply-model.js';
import { noChallengers, type Challengers } from '../challengers/decide.js';
import { readChallengers } from '../challengers/documents.js';
import { applyWhatIf, type WhatIfToApply } from '../what-if/apply-model.js';
import type { ConfigurationDecision } from './messages.js';

/** Names a draft that the service has stored. */
export type Application =
  | { type: 'ApplyWhatIf'; payload: records.ApplyWhatIf }
  | { type: 'ApplyChallenger'; payload: records.ApplyChallenger };

/** The record declarations of the commands. */
export const applicationCommands = {
  ApplyWhatIf: records.applyWhatIf,
  ApplyChallenger: records.applyChallenger,
};

/** What the commands name. */
export interface StoredDrafts {
  /** By the id of the job. */
  readonly whatIfs: ReadonlyMap<string, WhatIfToApply>;
  /** By OU. */
  readonly challengers: ReadonlyMap<string, Challengers>;
}

export function isApplication(command: { readonly type: string }): command is Application {
  return command.type in applicationCommands;
}

export async function readDrafts(
  commands: readonly Application[],
  { readModel }: Pick<PartitionScope, 'readModel'>,
): Promise<StoredDrafts> {
  const jobs = commands.flatMap(({ type, payload }) =>
    type === 'ApplyWhatIf' ? [findJob(readModel, payload.ou_id, payload.job_id)] : [],
  );
  const challengers = commands.flatMap(({ type, payload }) =>
    type === 'ApplyChallenger' ? [readChallengers(readModel, payload.ou_id)] : [],
  );
  return {
    whatIfs: new Map(
      (await Promise.all(jobs)).flatMap((job) => (job && isWhatIf(job) ? [[job.job_id, job]] : [])),
    ),
    challengers: new Map((await Promise.all(challengers)).map((of) => [of.ou_id, of])),
  };
}

/** A decision on the configuration, with commands to others. */
export type DecisionWithCommands = ConfigurationDecision & { readonly commands?: readonly OutgoingRecord[] };

export function decideApplication(
  { type, payload }: Application,
  { whatIfs, challengers }: StoredDrafts,
  live: ScoringConfiguration,
): DecisionWithCommands {
  const decision =
    type === 'ApplyWhatIf'
      ? applyWhatIf(payload, whatIfs.get(payload.job_id) ?? null, live)
      : applyChallenger(payload, challengers.get(payload.ou_id) ?? noChallengers(payload.ou_id), live);
  return decision.outcome === 'rejected'
    ? decision
    : { ...decision, events: actedBy(decision.events, payload) };
}

function isWhatIf(job: Job<{ readonly kind: string }>): job is Job<records.WhatIfWork> {
  return job.work.kind === 'what-if';
}
