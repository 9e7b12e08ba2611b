// The stored states of accounts of one partition, with the firings and suppressions for them: folded in memory, written behind.
import {
  BufferedInserts,
  BufferedReplacements,
  BufferedStates,
  uuidToBinary,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  firedEvents,
  suppressions,
  toFiredDocument,
  toSuppressionDocument,
  type FiredDocument,
  type SuppressionDocument,
} from '../firing/documents.js';
import {
  accountStates,
  toAccountState,
  toAccountStateDocument,
  type AccountStateDocument,
} from './documents.js';
import type { FoldedAccount, ForgottenAccount, RecordedAccountFiring } from './firing-fold.js';
import { deleteForgottenAccounts } from './forgetting.js';

/** Number of unwritten firings, and of unwritten states, above which a fold waits. */
const maximumUnwritten = { firings: 2_000, states: 10_000 };
/** Time over which a write of the states is spread while no caller waits for it, in milliseconds. */
const spreadOverMs = 20_000;

export class AccountFiringStore {
  readonly #fired: BufferedInserts<FiredDocument>;
  readonly #suppressions: BufferedReplacements<SuppressionDocument>;
  /** By account id. */
  readonly #states: BufferedStates<FoldedAccount, AccountStateDocument>;
  /** Writes firings and suppressions with each fold, because queries show them. */
  readonly #shown: WriteBehind;
  /** Writes states, and before them the firings that are folded into them. */
  readonly #remembered: WriteBehind;

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
    { cachedAccounts }: { cachedAccounts: number },
  ) {
    this.#fired = new BufferedInserts(readModel, firedEvents);
    this.#suppressions = new BufferedReplacements(readModel, suppressions);
    this.#states = new BufferedStates(readModel, {
      collection: accountStates,
      idOf: uuidToBinary,
      toState: (document) => ({ state: toAccountState(document), offset: document.offset }),
      toDocument: ({ state, offset }) => toAccountStateDocument(state, { partition, offset }),
      maximumCached: cachedAccounts,
      spreadOverMs,
    });
    this.#shown = new WriteBehind([this.#fired, this.#suppressions], {
      maximumUnwritten: maximumUnwritten.firings,
    });
    this.#remembered = new WriteBehind([this.#shown, this.#states], {
      maximumUnwritten: maximumUnwritten.states,
    });
  }

  /** The states by account id; null for an account without events of firing. */
  load(accountIds: Iterable<string>): Promise<Map<string, FoldedAccount | null>> {
    return this.#states.load(accountIds);
  }

  /** Waits while too many changes are unwritten. @throws the error of an earlier write */
  async room(): Promise<void> {
    await this.#shown.room();
    await this.#remembered.room();
  }

  /**
   * Adds the firings and suppressions of these events, and begins to write them.
   * @param forgotten accounts that are forgotten with these events: their stored firings and suppressions are deleted
   */
  async show(
    recorded: readonly RecordedAccountFiring[],
    forgotten: readonly ForgottenAccount[],
  ): Promise<void> {
    for (const one of recorded) this.#show(one);
    const written = this.#shown.write();
    if (forgotten.length === 0) return;
    await written;
    await deleteForgottenAccounts(this.readModel, forgotten);
  }

  #show({ event, json, offset }: RecordedAccountFiring): void {
    const { partition } = this;
    if (event.type === 'AccountMilestoneFired')
      this.#fired.put(toFiredDocument(event.payload, json, partition));
    else if (event.type === 'AccountTriggerSuppressed')
      this.#suppressions.put(toSuppressionDocument(event.payload, { partition, offset }));
  }

  /** Adds changed states; call `show` with their events first. */
  put(changed: ReadonlyMap<string, FoldedAccount>): void {
    for (const [id, account] of changed) this.#states.put(id, account);
  }

  /** Resolves when the firings and suppressions added before this call are stored. */
  shown(): Promise<void> {
    return this.#shown.written();
  }

  /** Writes everything added before this call; states are spread over time until `awaited` is aborted. */
  write(awaited: AbortSignal): Promise<void> {
    return this.#remembered.write(awaited);
  }

  forget(): void {
    this.#remembered.forget();
  }

  async close(): Promise<void> {
    await this.#remembered.close();
    await this.#shown.close();
  }
}
