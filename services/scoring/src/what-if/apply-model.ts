// Decides on making the draft of a what-if live: pure. All of its changes, as one change with one author, or none.
import { jobIdOf, type records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { beyondLimits } from '../configuration/decision-model.js';
import type { ConfigurationDecision } from '../configuration/messages.js';
import { draftOf } from './draft-model.js';

/** The job whose draft is to be live, as far as it is known. */
export interface WhatIfToApply {
  readonly status: string;
  readonly started_at: string;
  readonly work: records.WhatIfWork;
}

/** A draft that is live already is taken whatever the version, so that a repeat is answered like the first. */
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
  const draft = draftOf(job.work, live, { job_id, at });
  const isSame = draft.outcome === 'done' && draft.events.length === 0;
  if (!isSame && live.version !== job.work.configuration_version)
    return {
      outcome: 'rejected',
      code: 'rules_changed',
      message: `The configuration has version ${String(live.version)}, and the what-if ${name} was about version ${String(job.work.configuration_version)}. Start it again with the rules of now, and apply that one.`,
    };
  if (draft.outcome === 'rejected') return draft;
  const { events, configuration } = draft;
  const tooMuch = isSame ? null : beyondLimits(configuration);
  if (tooMuch) return tooMuch;
  return { outcome: 'done', events, result: { job_id: name, version: configuration.version } };
}
