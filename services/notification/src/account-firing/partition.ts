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
import { offsetToNumber, type ReadModel } from '@lead-scoring/read-model';
import type { Source } from '../firing/messages.js';
import type { TriggerReader } from '../firing/trigger-reader.js';
import type { CompiledTriggers } from '../firing/trigger-model.js';
import { concernsAccount, decideAccountScored } from './decide.js';
import { foldAccountFirings, type FoldedAccount, type RecordedAccountFiring } from './firing-fold.js';
import { forgettingsOf } from './forgetting.js';
import {
  accountFiringEventOf,
  accountFiringReads,
  accountFiringRecords,
  type AccountFiringEvent,
} from './messages.js';
import { accountRequestsOf } from './notification-model.js';
import { initialAccountState, type AccountState } from './state.js';
import { AccountFiringStore } from './store.js';

export interface AccountFiringOptions {
  triggers: TriggerReader;
  /** Maximum number of accounts that the partition keeps in memory. */
  cachedAccounts: number;
}

/** Maximum number of firings and notifications in one batch: bounds the memory of a batch. */
const maximumOutput = 1_000;
const tooLarge: CapabilityDecision = {
  outcome: 'split',
  reason: `more than ${String(maximumOutput)} firings and notifications for accounts in one batch`,
};

/** A decision on an account that may make triggers of its OU fire, re-arm or forget. */
interface ConcernedAccount {
  readonly scored: records.AccountScored;
  readonly source: Source;
  readonly triggers: CompiledTriggers;
}

export class AccountFiringPartition implements OpenCapability {
  readonly #readModel: ReadModel;
  readonly #store: AccountFiringStore;

  constructor(
    { readModel, partition }: Pick<PartitionScope, 'readModel' | 'partition'>,
    private readonly options: AccountFiringOptions,
  ) {
    this.#readModel = readModel;
    this.#store = new AccountFiringStore(readModel, partition, options);
  }

  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    const concerned = await this.#concerned(incoming);
    const before = await this.#store.load(concerned.map(({ scored }) => scored.account_id));
    const events = decideAll(concerned, before);
    if (outputsOf(events) > maximumOutput && incoming.length > 1) return tooLarge;
    return {
      outcome: 'decided',
      events: events.map(eventRecord),
      commands: await this.#commandsOf(events),
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

  async #commandsOf(events: readonly AccountFiringEvent[]): Promise<OutgoingRecord[]> {
    // The stored firings are searched, so the firings in memory are written first.
    if (events.some(({ type }) => type === 'AccountForgotten')) await this.#store.shown();
    const commands: OutgoingRecord[] = [];
    for (const { type, payload } of events)
      if (type === 'AccountMilestoneFired')
        for (const request of accountRequestsOf(payload))
          commands.push(outgoing(records.requestNotification, { key: request.channel_id, payload: request }));
      else if (type === 'AccountForgotten')
        for (const command of await forgettingsOf(this.#readModel, payload, events))
          commands.push(outgoing(records.forgetAccount, { key: command.channel_id, payload: command }));
    return commands;
  }

  /** Folds events; an event that was folded before changes nothing. An error of a write rejects the next fold. */
  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    const recorded = folded.flatMap((record): RecordedAccountFiring[] => {
      const event = accountFiringEventOf(record);
      return event ? [{ event, json: record.json, offset: offsetToNumber(record.offset) }] : [];
    });
    if (recorded.length === 0) return;
    await this.#store.room();
    const before = await this.#store.load(recorded.map(({ event }) => event.payload.account_id));
    const { changed, unfolded, forgotten } = foldAccountFirings(recorded, before);
    await this.#store.show(unfolded, forgotten);
    this.#store.put(changed);
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
  before: ReadonlyMap<string, FoldedAccount | null>,
): AccountFiringEvent[] {
  const states = new Map<string, AccountState>();
  return concerned.flatMap(({ scored, source, triggers }) => {
    const { ou_id, account_id } = scored;
    const state =
      states.get(account_id) ?? before.get(account_id)?.state ?? initialAccountState(ou_id, account_id);
    const decision = decideAccountScored(scored, source, state, triggers);
    states.set(account_id, decision.state);
    return decision.events;
  });
}

function outputsOf(events: readonly AccountFiringEvent[]): number {
  return events.reduce(
    (sum, { type, payload }) => sum + 1 + (type === 'AccountMilestoneFired' ? payload.channel_ids.length : 0),
    0,
  );
}

function eventRecord({ type, payload }: AccountFiringEvent): OutgoingRecord {
  return outgoing(accountFiringRecords[type], { key: payload.account_id, payload });
}
