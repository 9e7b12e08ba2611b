// `lead-scoring rebuild`: has a service fill a new edition of its read models, and waits until reads answer from it.
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@lead-scoring/contracts';
import { requestRebuild, type EventLog } from '@lead-scoring/event-log';
import { readEditions, type ReadModel } from '@lead-scoring/read-model';
import { CommandFailed, exitCodes } from './errors.js';
import { wholeNumber } from './ingest-command.js';
import { ensureUsed, withEventLog } from './log-commands.js';
import { progressBar, type Output, type Progress } from './output.js';
import {
  progressSentence,
  rebuildProgress,
  withReadModel,
  type RebuildProgress,
} from './rebuild-progress.js';
import type { Settings } from './settings.js';

const lookEveryMs = 300;

/** @returns the exit code */
export async function rebuild(
  service: ServiceName,
  flags: { json?: boolean; timeout?: string },
  settings: Settings,
  output: Output,
): Promise<number> {
  const seconds = wholeNumber('--timeout', flags.timeout ?? '3600', 1, 604_800);
  return withReadModel(settings, service, (readModel) =>
    withEventLog(settings, async (log) => {
      await ensureUsed(log, service);
      await log.prepare();
      const { rebuildId, positions } = await requestRebuild(log, service);
      if (flags.json !== true)
        output.note(
          `Rebuilding ${service}: its events are folded into new read models. Reads answer from the present ones until the new ones are level …\n`,
        );
      const deadline = Date.now() + seconds * 1_000;
      const last = await awaitRebuild({ log, readModel, service, rebuildId, deadline, output });
      if (last !== 'done')
        throw new CommandFailed(
          `${service} is not rebuilt after ${seconds} s${last ? ` (${progressSentence(last)})` : ''}; the rebuild goes on. Is every process of ${service} running? \`lead-scoring doctor\` tells.`,
          exitCodes.unavailable,
        );
      output.write(
        flags.json === true
          ? `${JSON.stringify({ rebuild_id: rebuildId, partitions: positions.length })}\n`
          : `${service} is rebuilt: reads answer from the new read models.\n`,
      );
      return exitCodes.done;
    }),
  );
}

interface AwaitedRebuild {
  log: EventLog;
  readModel: ReadModel;
  service: ServiceName;
  rebuildId: string;
  /** Milliseconds since 1970. */
  deadline: number;
  output: Output;
}

/** @returns the last progress when the deadline has passed; null when no filling has begun by then */
async function awaitRebuild({
  log,
  readModel,
  service,
  rebuildId,
  deadline,
  output,
}: AwaitedRebuild): Promise<'done' | RebuildProgress | null> {
  let bar: Progress | undefined;
  try {
    for (;;) {
      const editions = await readEditions(readModel, service);
      if (editions.done.includes(rebuildId)) return 'done';
      const progress = await rebuildProgress(log, readModel, service, editions);
      if (progress) {
        bar ??= progressBar(output, progress.records, 'records');
        bar.update(progress.folded, progress.folded);
      }
      if (Date.now() > deadline) return progress;
      await delay(lookEveryMs);
    }
  } finally {
    bar?.stop();
  }
}
