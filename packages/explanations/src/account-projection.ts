// Folds decisions on accounts into one document for each account; an account without leads has none.
import type { records } from '@lead-scoring/contracts';
import { deleteByIds, findByIds, keyOf, type GuardedWriter, type ReadModel } from '@lead-scoring/read-model';
import { foldAccountPoints } from '@lead-scoring/scoring-domain';
import { leadKey, sharedAccounts, toAccountDocument, type SharedAccount } from './model.js';

export interface AccountDecision {
  payload: records.AccountScored;
  offset: number;
}

interface FoldedAccount {
  _id: ReturnType<typeof leadKey>;
  /** null: the account has no leads. */
  account: SharedAccount | null;
  /** Offset of the last decision. */
  offset: number;
}

/** The accounts of one partition. */
export class AccountProjection {
  readonly #accounts;
  readonly #partition: number;
  readonly #writer: GuardedWriter;

  constructor(readModel: ReadModel, { partition, writer }: { partition: number; writer: GuardedWriter }) {
    this.#accounts = readModel.collection(sharedAccounts);
    this.#partition = partition;
    this.#writer = writer;
  }

  async fold(decisions: readonly AccountDecision[]): Promise<void> {
    if (decisions.length === 0) return;
    const folded = await this.#load(decisions);
    for (const { payload, offset } of decisions) {
      const _id = keyOfAccount(payload);
      const known = folded.get(keyOf(_id));
      if (known && known.offset >= offset) continue;
      folded.set(keyOf(_id), { _id, account: foldAccount(known?.account ?? null, payload), offset });
    }
    await this.#write([...folded.values()]);
  }

  /** The stored accounts on which there are decisions. */
  async #load(decisions: readonly AccountDecision[]): Promise<Map<string, FoldedAccount>> {
    const ids = new Map(
      decisions.map(({ payload }) => keyOfAccount(payload)).map((_id) => [keyOf(_id), _id] as const),
    );
    const found = await findByIds(this.#accounts, [...ids.values()]);
    return new Map(
      found.map(({ _id, offset, ...account }) => [keyOf(_id), { _id, account, offset }] as const),
    );
  }

  async #write(folded: readonly FoldedAccount[]): Promise<void> {
    const at = { partition: this.#partition };
    const gone = folded.filter(({ account }) => account === null).map(({ _id }) => _id);
    await this.#writer.write(
      this.#accounts,
      folded.flatMap(({ _id, account, offset }) =>
        account ? [toAccountDocument(account, { ...at, _id, offset })] : [],
      ),
    );
    if (gone.length > 0) await deleteByIds(this.#accounts, gone);
  }
}

function keyOfAccount({ ou_id, account_id }: records.AccountScored) {
  return leadKey(ou_id, account_id);
}

function foldAccount(known: SharedAccount | null, decision: records.AccountScored): SharedAccount | null {
  const points = foldAccountPoints(known, decision);
  return points && { ...points, name: decision.account_name ?? decision.account_key };
}
