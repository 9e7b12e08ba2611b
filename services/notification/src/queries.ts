// All queries of the notification service.
import { readAuditEntries } from '@lead-scoring/capability';
import { routeDeclarations } from '@lead-scoring/contracts';
import type { EventLog } from '@lead-scoring/event-log';
import { createExplanationReader } from '@lead-scoring/explanations';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { createAccountsScoredSince, simulateAccountMilestone } from './account-firing/simulate.js';
import { configurationQueries } from './configuration/queries.js';
import type { ConfigurationReader } from './configuration/reader.js';
import { healthAnswer } from './delivery/answers.js';
import { deliveriesOfFirings, deliveryQueries, readChannelHealth } from './delivery/queries.js';
import { explanationsName } from './explanations/capability.js';
import { createCatchUp } from './explanations/catch-up.js';
import { firingQueries, suppressionsOf } from './firing/queries.js';
import type { HistoryBounds } from './firing/history-examination.js';
import { createIngestedSince } from './firing/simulate.js';
import { jobQueries } from './jobs/queries.js';
import { usageQueries } from './usage/queries.js';
import type { ScoringReader } from './levels/reader.js';

export interface QueriesDependencies {
  readModel: ReadModel;
  /** Simulations wait until its records are folded; simulations of sequences and of triggers by account score read it. */
  log: EventLog;
  configurations: ConfigurationReader;
  scoring: ScoringReader;
  now: () => Date;
}

/** Bounds beyond which a simulation is truncated; the time bound is below the gateway's timeout. */
const history: HistoryBounds = { timeMs: 5_000, events: 200_000 };
/** Maximum time that a simulation waits for the newest decisions, in milliseconds. */
const catchUpMs = 3_000;

export function notificationQueries({
  readModel,
  log,
  configurations,
  scoring,
  now,
}: QueriesDependencies): BoundQuery[] {
  const accountsScoredSince = createAccountsScoredSince(log);
  return [
    ...configurationQueries({
      configurations,
      scoring,
      conditionsOf: async (channelIds) =>
        new Map(
          [...(await readChannelHealth(readModel, channelIds))].map(([id, health]) => [
            id,
            healthAnswer(health),
          ]),
        ),
      suppressionsOf: (ouId, triggerIds) => suppressionsOf(readModel, ouId, triggerIds, now()),
    }),
    ...firingQueries({
      readModel,
      explanations: createExplanationReader(readModel, explanationsName),
      ingestedSince: createIngestedSince(log),
      simulateAccount: (trigger, range, bounds) =>
        simulateAccountMilestone(accountsScoredSince, trigger, range, bounds),
      configurations,
      scoring,
      catchUp: createCatchUp(readModel, log, { timeoutMs: catchUpMs }),
      deliveriesOf: (firingIds) => deliveriesOfFirings(readModel, firingIds),
      now,
      history,
    }),
    ...deliveryQueries(readModel),
    bindQuery(routeDeclarations.listChanges, async ({ body, context: { ouId } }) => ({
      data: await readAuditEntries(readModel, { service: 'notification', scope: ouId }, body),
    })),
    ...jobQueries(readModel, now),
    ...usageQueries(readModel),
  ];
}
