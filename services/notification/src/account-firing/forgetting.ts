// Finds and deletes the stored firings of accounts that are gone, and finds the channels that were notified of them.
import type { records } from '@lead-scoring/contracts';
import {
  deleteByIds,
  readJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { firedEvents, suppressionKey, suppressions } from '../firing/documents.js';
import { isEnded } from '../firing/forget-model.js';
import type { ForgottenAccount } from './firing-fold.js';
import type { AccountFiringEvent } from './messages.js';

type Firing = Pick<records.AccountMilestoneFired, 'ou_id' | 'source' | 'channel_ids'>;

const firingsAtOnce = 500;

/** The commands to forget an account, one per channel that was notified of it. */
export async function forgettingsOf(
  readModel: ReadModel,
  end: records.AccountForgotten,
  events: readonly AccountFiringEvent[],
): Promise<records.ForgetAccount[]> {
  const { ou_id, account_id, source, at } = end;
  const channels = new Set<string>();
  const addChannels = ({ channel_ids }: Firing) => {
    for (const id of channel_ids) channels.add(id);
  };
  await visitFirings(readModel, end, addChannels);
  // Firings of the same batch are not stored yet.
  for (const { type, payload } of events)
    if (type === 'AccountMilestoneFired' && payload.account_id === account_id && isOf(payload, end))
      addChannels(payload);
  return [...channels].map((channel_id) => ({
    ou_id,
    channel_id,
    account_id,
    before: source,
    requested_at: at,
  }));
}

/** Deletes the firings of these accounts, and their suppressions except those that began after the account was forgotten. */
export async function deleteForgottenAccounts(
  readModel: ReadModel,
  forgotten: readonly ForgottenAccount[],
): Promise<void> {
  for (const { before, end, offset } of forgotten) {
    const ids: Binary[] = [];
    await visitFirings(readModel, end, (_, id) => ids.push(id));
    await deleteByIds(readModel.collection(firedEvents), ids);
    const keys = [...before.memories]
      .filter(([, { suppressed }]) => suppressed !== null)
      .map(([triggerId]) => suppressionKey(triggerId, before.account_id));
    if (keys.length === 0) continue;
    await withClassifiedErrors(() =>
      readModel.collection(suppressions).deleteMany({ _id: { $in: keys }, offset: { $lt: offset } }),
    );
  }
}

function isOf({ ou_id, source }: Firing, end: records.AccountForgotten): boolean {
  return ou_id === end.ou_id && isEnded(source, end.source);
}

/** Calls `visit` for each stored firing that is forgotten with the account. */
function visitFirings(
  readModel: ReadModel,
  end: records.AccountForgotten,
  visit: (firing: Firing, id: Binary) => void,
): Promise<void> {
  return withClassifiedErrors(async () => {
    const found = readModel
      .collection(firedEvents)
      .find({ lead: uuidToBinary(end.account_id) }, { projection: { json: 1 }, batchSize: firingsAtOnce });
    for await (const { _id, json } of found) {
      const firing = readJson(json) as unknown as Firing;
      if (isOf(firing, end)) visit(firing, _id);
    }
  });
}
