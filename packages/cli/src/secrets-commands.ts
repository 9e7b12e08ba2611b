// `lead-scoring secrets`: shows which keys seal the secrets of channels, and seals them with the current key. The
// command line has no keys: it asks the notification service. docs/runbooks/secrets.md
import { records } from '@lead-scoring/contracts';
import {
  createRecordWriter,
  createRequester,
  outgoing,
  ReplyTimeout,
  type EventLog,
  type Requester,
} from '@lead-scoring/event-log';
import { CommandFailed, exitCodes } from './errors.js';
import { ensureUsed, withEventLog } from './log-commands.js';
import type { Output } from './output.js';
import type { Settings } from './settings.js';

/** Counts over all partitions. */
export interface SealedSecrets {
  /** Ids of the current key in the service's processes: one id when all have the same setting. */
  keyIds: string[];
  /** Channels whose secrets were sealed again. */
  channels: number;
  current: number;
  superseded: number;
  unreadable: number;
}

/** Channels in one transaction: their secrets are a few KB each. */
const channelsAtOnce = 100;
const patienceMs = 30_000;

/** @returns the exit code: not 0 while the previous key is needed, or a secret cannot be opened */
export async function showSecrets(
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  return report(await withEventLog(settings, (log) => countSecrets(log, patienceMs)), flags, output);
}

/** @returns the exit code of `showSecrets` */
export async function resealSecrets(
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  return report(
    await withEventLog(settings, (log) => requestReseal(log, channelsAtOnce, patienceMs)),
    flags,
    output,
  );
}

/** Counts without sealing. */
export function countSecrets(log: EventLog, timeoutMs: number): Promise<SealedSecrets> {
  return requestReseal(log, 0, timeoutMs);
}

/** The counts as a sentence, for `doctor` and `secrets`. */
export function secretsSentence({ keyIds, current, superseded, unreadable }: SealedSecrets): string {
  const total = current + superseded + unreadable;
  if (total === 0) return 'none yet';
  const parts = [`${current} of ${total} sealed with the current key (${keyIds.join(', ')})`];
  if (superseded > 0) parts.push(`${superseded} with the previous key or in an older form`);
  if (unreadable > 0) parts.push(`${unreadable} with a key that the service does not have`);
  return parts.join(', ');
}

/** Whether all processes have the same current key, and no stored secret needs another key. */
export function isExchanged({ keyIds, superseded, unreadable }: SealedSecrets): boolean {
  return keyIds.length <= 1 && superseded === 0 && unreadable === 0;
}

function report(found: SealedSecrets, flags: { json?: boolean }, output: Output): number {
  const { channels } = found;
  if (flags.json === true) output.write(`${JSON.stringify(found, null, 2)}\n`);
  else {
    if (channels > 0) output.write(`Channels whose secrets were sealed again: ${channels}.\n`);
    output.write(`Secrets of channels: ${secretsSentence(found)}.\n`);
    output.note(adviceOn(found));
  }
  return isExchanged(found) ? exitCodes.done : exitCodes.incomplete;
}

function adviceOn({ keyIds, superseded, unreadable }: SealedSecrets): string {
  if (keyIds.length > 1)
    return 'The processes of the notification service have different current keys: start all of them with the same SEALING_SECRET, then run this command again.\n';
  if (superseded > 0)
    return 'Run `lead-scoring secrets reseal`; until then do not remove SEALING_SECRET_PREVIOUS: docs/runbooks/secrets.md\n';
  if (unreadable > 0)
    return 'Set SEALING_SECRET_PREVIOUS to the key that sealed them, or enter the secrets of these channels again: docs/runbooks/secrets.md\n';
  return 'No stored secret needs SEALING_SECRET_PREVIOUS.\n';
}

async function requestReseal(log: EventLog, maximum: number, timeoutMs: number): Promise<SealedSecrets> {
  await ensureUsed(log, 'notification');
  await log.prepare();
  const writer = await createRecordWriter(log).start();
  const requester = await createRequester(log, { writer: writer.value }).start();
  try {
    const answers = await Promise.all(
      Array.from({ length: log.config.partitions }, (_, partition) =>
        resealPartition(requester.value, partition, maximum, timeoutMs),
      ),
    );
    return answers.reduce<SealedSecrets>(
      (sum, { key_id, channels, secrets }) => ({
        keyIds: [...new Set([...sum.keyIds, key_id])],
        channels: sum.channels + channels,
        current: sum.current + secrets.current,
        superseded: sum.superseded + secrets.superseded,
        unreadable: sum.unreadable + secrets.unreadable,
      }),
      { keyIds: [], channels: 0, current: 0, superseded: 0, unreadable: 0 },
    );
  } finally {
    await requester.stop();
    await writer.stop();
  }
}

/** Repeats the command until the partition has nothing left to seal. */
async function resealPartition(
  requester: Requester,
  partition: number,
  maximum: number,
  timeoutMs: number,
): Promise<records.ResealResult> {
  for (let channels = 0; ;) {
    const payload = { maximum_channels: maximum, requested_at: new Date().toISOString() };
    const command = outgoing(records.resealSecrets, { key: String(partition), partition, payload });
    const reply = await requester.request(command, { timeoutMs }).catch((error: unknown) => {
      if (!(error instanceof ReplyTimeout)) throw error;
      throw new CommandFailed(
        `The notification service did not answer for partition ${partition} within ${timeoutMs / 1_000} s. Is it running? \`lead-scoring doctor\` tells.`,
        exitCodes.unavailable,
        { cause: error },
      );
    });
    if (reply.outcome === 'rejected') throw new CommandFailed(reply.message, exitCodes.unavailable);
    const answer = records.resealResult.parse(reply.result);
    channels += answer.channels;
    if (answer.channels === 0 || answer.secrets.superseded === 0) return { ...answer, channels };
  }
}
