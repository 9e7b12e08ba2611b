// `lead-scoring ingest --history`: one upload to POST /import, under a key by which the same command again counts nothing twice.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { RequestFailed, type Client, type ImportResult } from '@lead-scoring/client';
import { longTries, mayPass } from './api-client.js';
import { CommandFailed, failureOf } from './errors.js';
import type { EventSource } from './event-source.js';
import { progressBar, type Output } from './output.js';

export interface HistoryToSend {
  /** A path, or `-` for standard input. */
  file: string;
  /** The opened source. */
  source: EventSource;
  /** Opens the file anew, for a further try. */
  reopen: () => Promise<EventSource>;
  /** The name of the run (`--run`). */
  run: string | undefined;
  /** The settings by which the file is read: read in another way, the same file gives other events. */
  reading: unknown;
}

export interface SentHistory {
  result: ImportResult;
  /** The source of the last try. */
  source: EventSource;
}

export async function sendHistory(
  client: Client,
  history: HistoryToSend,
  { output, signal, onRetry }: { output: Output; signal: AbortSignal; onRetry: () => void },
): Promise<SentHistory> {
  const key = await keyOf(history);
  const mayRepeat = history.file !== '-';
  for (let tried = 1, { source } = history; ; tried += 1) {
    const bar = progressBar(output, source.bytes, 'events');
    try {
      const result = await client.import(source.events, {
        signal,
        ...(key !== null && { idempotencyKey: key }),
        onProgress: ({ sent }) => {
          bar.update(source.bytesRead(), sent);
        },
      });
      return { result, source };
    } catch (error) {
      signal.throwIfAborted();
      if (!mayPass(error)) throw withRun(error);
      if (!mayRepeat || tried >= longTries.most) throw withAdvice(error, key);
    } finally {
      bar.stop();
    }
    onRetry();
    await wait(longTries.waitMs(tried), undefined, { signal });
    source = await history.reopen();
  }
}

/** The remedy in an error after which only a part of the history is in the log. */
export function remedyOf(hasKey: boolean): string {
  return hasKey
    ? 'The same command again sends what is missing, and no event counts twice.'
    : 'The events up to there are in. They can be sent again without counting them twice if they have an event_id; with a name (--run) any can.';
}

/** The name of the run, or else the content of the file; null for standard input without a name, which cannot be read twice. */
async function keyOf({ file, run, reading }: HistoryToSend): Promise<string | null> {
  if (run !== undefined) return run;
  if (file === '-') return null;
  const hash = createHash('sha256').update(JSON.stringify(reading));
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
}

function withAdvice(error: unknown, key: string | null): CommandFailed {
  const { message, exitCode } = failureOf(error);
  return new CommandFailed(`${message ?? ''}\n${remedyOf(key !== null)}`, exitCode, { cause: error });
}

function withRun(error: unknown): unknown {
  if (!(error instanceof RequestFailed) || error.problem?.code !== 'idempotency_key_reused') return error;
  const { message, exitCode } = failureOf(error);
  return new CommandFailed(`${message ?? ''}\nGive this run a name of its own with --run.`, exitCode, {
    cause: error,
  });
}
