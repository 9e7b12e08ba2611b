// `lead-scoring erase`: removes from the log what is about deleted leads and ended organizational units, while the services are stopped.
import { eraseLog, type ErasedRecords, type ErasureReport, type ErasureStep } from '@lead-scoring/event-log';
import { exitCodes } from './errors.js';
import { withEventLog } from './log-commands.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface EraseFlags {
  json?: boolean;
  dryRun?: boolean;
  deadLetters?: boolean;
}

/** @returns the exit code */
export async function erase(flags: EraseFlags, settings: Settings, output: Output): Promise<number> {
  const isDryRun = flags.dryRun === true;
  const report = await withEventLog(settings, (log) =>
    eraseLog(log, {
      isDryRun,
      includesDeadLetters: flags.deadLetters === true,
      onProgress: progressNotes(output),
    }),
  );
  if (flags.json === true) output.write(`${JSON.stringify(report, null, 2)}\n`);
  else writeReport(report, isDryRun, output);
  return exitCodes.done;
}

/** A line for each step of each topic. */
function progressNotes(output: Output): (step: ErasureStep) => void {
  let last = '';
  return ({ topic, work }) => {
    const line = `${topic}: ${work} …\n`;
    if (line !== last) output.note(line);
    last = line;
  };
}

function writeReport(
  { events, deleted, endedUnits }: ErasureReport,
  isDryRun: boolean,
  output: Output,
): void {
  output.write(
    `${table(events, [
      { title: 'TOPIC', value: ({ topic }) => topic },
      { title: 'RECORDS', value: ({ records }) => records, align: 'right' },
      { title: isDryRun ? 'WOULD BE ERASED' : 'ERASED', value: erasedText, align: 'right' },
    ])}\n`,
  );
  const others = deleted.filter(({ records }) => records > 0);
  for (const { topic, records } of others)
    output.write(`${topic}: ${records} offsets that nothing reads again were deleted.\n`);
  if (endedUnits.length > 0 && !isDryRun)
    output.write(
      `${endedUnits.length} organizational units have ended. Their documents go with the next rebuild: start the services, and run \`lead-scoring rebuild\` for ingest, scoring, notification, share and site-analysis.\n`,
    );
}

function erasedText({ erased, isFinished }: ErasedRecords): string | number {
  return isFinished ? 'an interrupted erasure was finished' : erased;
}
