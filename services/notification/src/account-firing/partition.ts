// Account firing in one partition: decides on batches of decisions on accounts, and folds the events of its own decisions.
import type { CapabilityDecision, OpenCapability, PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import {
  outgoing,
  takenOf,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
} from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import type { CompiledTriggers, Source } from '@lead-scoring/scoring-domain/triggers';
import type { FoldedSubject } from '../firing/firing-fold.js';
import { FiringStore, type StoredSubjects } from '../firing/firing-store.js';
import { countForgettings, type Forgettings } from '../firing/forgetting.js';
import { cacheKeyOf } from '../firing/subject-model.js';
import type { TriggerReader } from '../firing/trigger-reader.js';
import { concernsAccount, decideAccountScored } from './decide.js';
import { accountStateKey, accountStates, packAccountState, unpackAccountState } from './documents.js';
import { accountFold } from './evolve.js';
import {
  accountFiringEventOf,
  accountFiringReads,
  accountFiringRecords,
  type AccountFiringEvent,
} from './messages.js';
import { accountRequestsOf } from './notification-model.js';
import { initialAccountState, type AccountState } from './state.js';

export interface AccountFiringOptions {
  triggers: TriggerReader;
  /** Maximum number of accounts that the partition keeps in memory. */
  cachedAccounts: number;
}

/** Maximum number of events, notifications and commands to forget in one batch: bounds the memory of a batch. */
const maximumOutput = 1_000;
const tooLarge: CapabilityDecision = {
  outcome: 'split',
  reason: `more than ${String(maximumOutput)} events, notifications and commands to forget of accounts in one batch`,
};

/** A decision on an account that may make triggers of its OU fire, re-arm or forget. */
interface ConcernedAccount {
  readonly scored: records.AccountScored;
  readonly source: Source;
  readonly triggers: CompiledTriggers;
}

const storedAccounts: StoredSubjects<AccountFiringEvent, AccountState> = {
  ...accountFold,
  eventOf: accountFiringEventOf,
  collection: accountStates,
  keyOf: accountStateKey,
  pack: packAccountState,
  unpack: unpackAccountState,
};

export class AccountFiringPartition implements OpenCapability {
  readonly #store;

  constructor(
    { readModel, partition }: Pick<PartitionScope, 'readModel' | 'partition'>,
    private readonly options: AccountFiringOptions,
  ) {
    this.#store = new FiringStore(readModel, partition, storedAccounts, {
      maximumCached: options.cachedAccounts,
    });
  }

  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    const concerned = await this.#concerned(incoming);
    const before = await this.#store.load(concerned.map(({ scored }) => scored));
    const events = decideAll(concerned, before);
    const isTooLarge = (forgettings: number) =>
      outputsOf(events) + forgettings > maximumOutput && incoming.length > 1;
    if (isTooLarge(0)) return tooLarge;
    const forgettings = await this.#store.forgettingsOf(events);
    if (isTooLarge(countForgettings(forgettings))) return tooLarge;
    return {
      outcome: 'decided',
      events: events.map(eventRecord),
      commands: events.flatMap((event) => commandsOf(event, forgettings)),
    };
  }

  /** The decisions that concern triggers; only the states of their accounts are loaded. */
  async #concerned(incoming: readonly IncomingRecord[]): Promise<ConcernedAccount[]> {
    const taken = incoming.flatMap(
      (record) => takenOf('scoring.events', accountFiringReads['scoring.events'], record) ?? [],
    );
    if (taken.length === 0) return [];
    // Milestones of account scores name neither levels nor filters, so no version of scoring's configuration is asked for.
    const triggersOf = await this.options.triggers.load(
      new Map(taken.map(({ payload }) => [payload.ou_id, new Set<number>()])),
    );
    return taken.flatMap(({ payload: scored, partition, offset }) => {
      const triggers = triggersOf(scored.ou_id);
      const source = { topic: 'scoring.events' as const, partition, offset: offsetToNumber(offset) };
      return concernsAccount(scored, triggers) ? [{ scored, source, triggers }] : [];
    });
  }

  /** Folds events; an event that was folded before changes nothing. An error of a write rejects the next fold. */
  fold(folded: readonly FoldedRecord[]): Promise<void> {
    return this.#store.fold(folded);
  }

  /** Writes the states folded before this call, spread over time until `awaited` is aborted. */
  write(awaited: AbortSignal): Promise<void> {
    return this.#store.write(awaited);
  }

  forget(): void {
    this.#store.forget();
  }

  /** After a reset the partition is opened anew. */
  beforeReset(): Promise<void> {
    return this.close();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** The events of the decisions, each decided on what those before it left. */
function decideAll(
  concerned: readonly ConcernedAccount[],
  before: ReadonlyMap<string, FoldedSubject<AccountState> | null>,
): AccountFiringEvent[] {
  const states = new Map<string, AccountState>();
  return concerned.flatMap(({ scored, source, triggers }) => {
    const key = cacheKeyOf(scored);
    const state =
      states.get(key) ?? before.get(key)?.state ?? initialAccountState(scored.ou_id, scored.account_id);
    const decision = decideAccountScored(scored, source, state, triggers);
    states.set(key, decision.state);
    return decision.events;
  });
}

function outputsOf(events: readonly AccountFiringEvent[]): number {
  return events.reduce(
    (sum, { type, payload }) => sum + 1 + (type === 'AccountMilestoneFired' ? payload.channel_ids.length : 0),
    0,
  );
}

function commandsOf({ type, payload }: AccountFiringEvent, forgettings: Forgettings): OutgoingRecord[] {
  switch (type) {
    case 'AccountMilestoneFired':
      return accountRequestsOf(payload).map((request) =>
        outgoing(records.requestNotification, { key: request.channel_id, payload: request }),
      );
    case 'AccountForgotten': {
      const { account_id } = payload;
      return (forgettings.get(payload) ?? []).map((forgetting) =>
        outgoing(records.forgetAccount, {
          key: forgetting.channel_id,
          payload: { ...forgetting, account_id },
        }),
      );
    }
    case 'AccountTriggerRearmed':
    case 'AccountTriggerSuppressed':
      return [];
  }
}

function eventRecord({ type, payload }: AccountFiringEvent): OutgoingRecord {
  return outgoing(accountFiringRecords[type], { key: payload.account_id, payload });
}
