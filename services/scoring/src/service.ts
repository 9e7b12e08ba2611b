// The scoring service's table of contents: its capabilities, in the order in which they fold, and the limits of a batch.
import { auditTrail, capabilitiesOf } from '@lead-scoring/capability';
import { accountPolicy } from './accounts/capability.js';
import { accountBackfillPolicy, accountMovePolicy } from './accounts/contribution-policy.js';
import { challengerEffect } from './challengers/capability.js';
import type { ChallengerDependencies } from './challengers/runs.js';
import { configurationHistory } from './configuration-changes/capability.js';
import { scoringConfiguration } from './configuration/capability.js';
import { decayTick, type DecayDependencies } from './decays/capability.js';
import { dealAggregate } from './deals/capability.js';
import { dealScorePolicy } from './deals/lead-deal-scores.js';
import { ignoredDealsProjection } from './deals/ignored.js';
import { levelTellingPolicy } from './levels/telling-policy.js';
import { leadProjection, type LeadsOptions } from './leads/capability.js';
import { movedLeads } from './rule-moves/capability.js';
import { scoringEpochPolicy } from './rescoring/capability.js';
import { scorePolicy, type ScoresDependencies } from './scores/capability.js';
import { followedTriggerDefinitions } from './trigger-definitions/capability.js';
import { typeScores } from './type-scores/capability.js';
import { scoringJobs, type ScoringJobsDependencies } from './jobs/capability.js';

export interface ScoringOptions extends LeadsOptions, Omit<ScoresDependencies, 'leads' | 'typeScores'> {
  readonly partitions: number;
  readonly decay: Omit<DecayDependencies, 'leads' | 'configurations'>;
  readonly jobs: Omit<ScoringJobsDependencies, 'configurations' | 'now'>;
  readonly challengers: Pick<ChallengerDependencies, 'onError' | 'lookEveryMs' | 'restFactor'>;
}

export function scoringService({
  cachedLeads,
  partitions,
  decay,
  jobs,
  challengers,
  ...dependencies
}: ScoringOptions) {
  const leads = leadProjection({ cachedLeads });
  const scoredTypes = typeScores({ leads });
  const scores = scorePolicy({ leads, typeScores: scoredTypes, ...dependencies });
  const { configurations } = dependencies;
  const capabilities = [
    configurationHistory,
    scoringConfiguration({ partitions }),
    scores,
    // After the scores: a reset and a tick of one lead in one batch are decided in this order.
    decayTick({ leads, configurations, ...decay }),
    dealScorePolicy({ leads }),
    accountMovePolicy({ leads, configurations }),
    accountBackfillPolicy({ leads, configurations }),
    levelTellingPolicy({ leads, configurations }),
    // Before the leads: it reads what is stored of a removed lead, which they delete.
    scoredTypes,
    leads,
    movedLeads,
    scoringEpochPolicy({ leads, configurations, log: jobs.log, maximumTail: jobs.maximumTail }),
    dealAggregate({ configurations }),
    ignoredDealsProjection,
    followedTriggerDefinitions(),
    accountPolicy({ configurations, onError: decay.onError }),
    scoringJobs({ configurations, now: decay.now, ...jobs }),
    auditTrail('scoring'),
    challengerEffect({
      configurations,
      now: decay.now,
      ...jobs,
      ...challengers,
    }),
  ] as const;
  return capabilitiesOf('scoring', capabilities, {
    // A record has few events, all of one lead, so that only large batches make folding cheap.
    maxRecordsPerBatch: 16_000,
    maxBytesPerBatch: 8 * 1024 * 1024,
    version: 17,
  });
}
