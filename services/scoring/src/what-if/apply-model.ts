// Decides on making the draft of a what-if live: pure. All of its changes, as one change with one author, or none.
import { jobIdOf, type records } from '@lead-scoring/contracts';
import type { ConfigurationEvent, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { beyondLimits } from '../configuration/decision-model.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import { draftOf, type Draft, type DraftDecision } from './draft-model.js';

/** The job whose draft is to be live, as far as it is known. */
export interface WhatIfToApply {
  readonly status: string;
  readonly started_at: string;
  readonly work: records.WhatIfWork;
}

/** A draft that was tried on the recorded history. */
export interface TriedDraft {
  readonly draft: Draft;
  /** Of the rules that it was tried with. */
  readonly configuration_version: number;
  /** The ids of what it creates follow from it. */
  readonly id: string;
  /** In a sentence: `the what-if scoring-…`. */
  readonly words: string;
}

/** A draft that is live already is taken whatever the version, so that a repeat is answered like the first. */
export function applyDraft(
  { draft, configuration_version, id: job_id, words }: TriedDraft,
  live: ScoringConfiguration,
  at: string,
): Refusal | { outcome: 'done'; events: ConfigurationEvent[]; configuration: ScoringConfiguration } {
  const decided: DraftDecision = draftOf(draft, live, { job_id, at });
  const isSame = decided.outcome === 'done' && decided.events.length === 0;
  if (!isSame && live.version !== configuration_version)
    return {
      outcome: 'rejected',
      code: 'rules_changed',
      message: `The configuration has version ${String(live.version)}, and ${words} was about version ${String(configuration_version)}. Start it again with the rules of now, and apply that one.`,
    };
  if (decided.outcome === 'rejected' || isSame) return decided;
  const tooMuch = beyondLimits(decided.configuration);
  return tooMuch?.outcome === 'rejected' ? tooMuch : decided;
}

export function applyWhatIf(
  { job_id, requested_at: at }: records.ApplyWhatIf,
  job: WhatIfToApply | null,
  live: ScoringConfiguration,
): ConfigurationDecision {
  const name = jobIdOf('scoring', job_id);
  if (!job)
    return {
      outcome: 'rejected',
      code: 'job_not_found',
      message: 'There is no what-if with this id in the organizational unit. GET /jobs lists the jobs.',
    };
  if (job.status !== 'completed')
    return {
      outcome: 'rejected',
      code: 'job_not_completed',
      message: `The what-if ${name} is ${job.status}, so nobody has seen what its draft does. Wait until it is completed, or start it again.`,
    };
  const { configuration_version } = job.work;
  const tried = { draft: job.work, configuration_version, id: job_id, words: `the what-if ${name}` };
  const applied = applyDraft(tried, live, at);
  if (applied.outcome === 'rejected') return applied;
  const { events, configuration } = applied;
  return { outcome: 'done', events, result: { job_id: name, version: configuration.version } };
}
