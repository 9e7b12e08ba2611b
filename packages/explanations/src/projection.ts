// The declared projection of scoring's events from which scores are explained: leads, the decisions on their scores, the accounts
// of leads, and the configuration of each OU. Each service that explains scores declares it under a name of its own.
import {
  followingProjection,
  type FollowerBatching,
  type FollowerScope,
  type FollowingProjection,
  type OpenFollower,
} from '@lead-scoring/capability';
import type { LeadFieldName } from '@lead-scoring/contracts';
import { takenOf, type FoldedRecord } from '@lead-scoring/event-log';
import { createGuardedWriter, insertMissing, offsetToNumber } from '@lead-scoring/read-model';
import { AccountProjection, type AccountDecision } from './account-projection.js';
import { ConfigurationProjection, type ConfigurationChange } from './configuration-projection.js';
import { LeadProjection, type LeadEvent } from './lead-projection.js';
import {
  configurations,
  decisions,
  deletedTypes,
  sharedAccounts,
  sharedLeads,
  toDeletedType,
  type DeletedTypeDocument,
} from './model.js';
import { explanationReads, readsWithoutAccounts } from './reads.js';

/** What a reset drops, in this order: leads before decisions, as in a removal. */
export const explanationCollections = [sharedLeads, decisions, configurations, deletedTypes];
/** The same with the accounts of leads. */
export const accountExplanationCollections = [...explanationCollections, sharedAccounts];

export interface ExplanationOptions {
  /** The name of the projector and of its checkpoints. */
  name: string;
  /** Maximum number of leads that a partition caches. */
  cachedLeads: number;
  /** Fields of leads to store besides the name. Default: none. */
  keptFields?: readonly LeadFieldName[];
  /** Whether decisions that gave no points are stored too, for the activity in accounts. Default: no. */
  keepsActivity?: boolean;
  /** Whether the accounts of leads are stored too, for explanations of account scores. Default: no. */
  keepsAccounts?: boolean;
  batching?: FollowerBatching;
}

export function explanationProjection({
  name,
  batching,
  keepsAccounts = false,
  ...options
}: ExplanationOptions): FollowingProjection {
  return followingProjection({
    name,
    reads: keepsAccounts ? explanationReads : readsWithoutAccounts,
    collections: keepsAccounts ? accountExplanationCollections : explanationCollections,
    ...(batching && { batching }),
    follow: (scope) => new OpenExplanations(scope, options),
  });
}

class OpenExplanations implements OpenFollower {
  readonly #configurations: ConfigurationProjection;
  readonly #accounts: AccountProjection;
  readonly #leads: LeadProjection;
  readonly #deletedTypes;

  constructor(
    { readModel, partition }: FollowerScope,
    {
      cachedLeads,
      keptFields = [],
      keepsActivity = false,
    }: Omit<ExplanationOptions, 'name' | 'batching' | 'keepsAccounts'>,
  ) {
    const writer = createGuardedWriter(readModel);
    this.#configurations = new ConfigurationProjection(readModel, { partition, writer });
    this.#accounts = new AccountProjection(readModel, { partition, writer });
    this.#deletedTypes = readModel.collection(deletedTypes);
    this.#leads = new LeadProjection(readModel, { partition, cachedLeads, keptFields, keepsActivity });
  }

  async fold(records: readonly FoldedRecord[]): Promise<void> {
    const { leadEvents, accountDecisions, changes, marks } = eventsOf(records);
    if (marks.length > 0) await insertMissing(this.#deletedTypes, marks);
    await this.#configurations.fold(changes);
    await this.#accounts.fold(accountDecisions);
    await this.#leads.fold(leadEvents);
  }

  forget(): void {
    this.#leads.forget();
  }
}

/** The events on leads, those on accounts, the changes of configurations and the deleted types among the records, each in the order of the log. */
function eventsOf(records: readonly FoldedRecord[]): {
  leadEvents: LeadEvent[];
  accountDecisions: AccountDecision[];
  changes: ConfigurationChange[];
  marks: DeletedTypeDocument[];
} {
  const leadEvents: LeadEvent[] = [];
  const accountDecisions: AccountDecision[] = [];
  const changes: ConfigurationChange[] = [];
  const marks: DeletedTypeDocument[] = [];
  for (const record of records) {
    const taken = takenOf('scoring.events', explanationReads['scoring.events'], record);
    if (!taken) continue;
    const offset = offsetToNumber(taken.offset);
    if (taken.type === 'LeadScored' || taken.type === 'ScoreAdjusted')
      leadEvents.push({ type: 'Decided', payload: taken.payload, json: taken.json, offset });
    else if (taken.type === 'LeadRemoved')
      leadEvents.push({ type: 'LeadRemoved', payload: taken.payload, offset });
    else if (taken.type === 'LeadContributed')
      leadEvents.push({ type: 'LeadContributed', payload: taken.payload, offset });
    else if (taken.type === 'AccountScored') accountDecisions.push({ payload: taken.payload, offset });
    else if (taken.type === 'EventScoresDeleted') marks.push(toDeletedType(taken.payload));
    else changes.push({ event: taken, offset });
  }
  return { leadEvents, accountDecisions, changes, marks };
}
