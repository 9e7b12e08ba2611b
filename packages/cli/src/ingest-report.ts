// The report on a sent file: how many events were new, which were rejected, and why.
import {
  RequestFailed,
  ServiceUnreachable,
  type Client,
  type ImportResult,
  type IngestResult,
} from '@lead-scoring/client';
import { routeDeclarations } from '@lead-scoring/contracts';
import { exitCodes } from './errors.js';
import type { EventSource } from './event-source.js';
import { duration, plain, type Output } from './output.js';

/** The most rejected lines to show. */
const maximumShown = 20;

type RepeatCount =
  { count: number; differing: number; aliasesRefused: number } | { count: null; why: string };

/**
 * Counts the repeated events and the aliases that were not linked, once all events are decided.
 * @returns null and the reason when this cannot be counted; the events are accepted all the same
 */
export async function countRepeats(
  client: Client,
  { batches, replayed, accepted, position }: IngestResult,
): Promise<RepeatCount> {
  let count = 0;
  let differing = 0;
  let aliasesRefused = 0;
  try {
    for (
      let at = 0;
      at < batches.length && position !== undefined;
      at += routeDeclarations.maximumBatchesAsked
    ) {
      const asked = batches.slice(at, at + routeDeclarations.maximumBatchesAsked).join(',');
      const found = await client.call('getEventStats', {
        query: { batch_id: asked, min_position: position },
      });
      count += found.repeats;
      differing += found.differing;
      aliasesRefused += found.aliases_refused;
    }
  } catch (error) {
    if (error instanceof RequestFailed || error instanceof ServiceUnreachable)
      return { count: null, why: error.message };
    throw error;
  }
  // A batch whose key is older than a day is decided again, and its repeats are added to those of the first time.
  return { count: Math.min(accepted, count + replayed), differing, aliasesRefused };
}

interface Sent {
  result: IngestResult | ImportResult;
  repeats: Awaited<ReturnType<typeof countRepeats>>;
  source: EventSource;
  retries: number;
  seconds: number;
}

/** @returns the exit code */
export function report(
  { result, repeats, source, retries, seconds }: Sent,
  output: Output,
  asJson: boolean,
): number {
  const refused = ('failed' in result ? result.failed : result.rejected.length) + source.problemCount();
  const exitCode = refused > 0 ? exitCodes.incomplete : exitCodes.done;
  if (asJson) {
    output.write(`${JSON.stringify(jsonReport({ result, repeats, source, retries, seconds }))}\n`);
    return exitCode;
  }
  const rate = Math.round(result.accepted / Math.max(seconds, 0.001));
  const counted =
    repeats.count === null
      ? ''
      : `: ${formatCount(result.accepted - repeats.count)} new, ${formatCount(repeats.count)} repeats`;
  output.write(
    `${formatCount(result.accepted)} events accepted in ${duration(seconds)} (${formatCount(rate)}/s)${counted}\n`,
  );
  if ('job' in result) output.note(`The import is job ${result.job}.\n`);
  if (repeats.count === null)
    output.note(`The number of repeats among them is not known yet: ${plain(repeats.why)}\n`);
  if (repeats.count !== null && repeats.differing > 0)
    output.note(
      `${formatCount(repeats.differing)} events differ from the stored event with the same id, which was kept: give each new event an event_id of its own.\n`,
    );
  if (repeats.count !== null && repeats.aliasesRefused > 0)
    output.note(
      `${formatCount(repeats.aliasesRefused)} aliases were not linked, because the organizational unit has reached its limit of aliases: the events are stored under their first alias.\n`,
    );
  if (retries > 0) output.note(`${retries} requests had to be sent again.\n`);
  for (const notice of source.notices) output.note(`${plain(notice)}\n`);
  for (const { line, message } of source.problems.slice(0, maximumShown))
    output.note(`line ${line}: ${plain(message)}\n`);
  for (const { index, errors } of result.rejected.slice(0, maximumShown)) {
    const line = source.lineOf(index);
    const reasons = errors.map(({ path, message }) => `${plain(path)} ${plain(message)}`).join('; ');
    output.note(`${line === null ? `event ${index + 1}` : `line ${line}`}: ${reasons}\n`);
  }
  if (refused > 0)
    output.note(`${refused} rejected${refused > maximumShown ? '; --json lists more of them' : ''}.
`);
  return exitCode;
}

function jsonReport({ result, repeats, source, retries, seconds }: Sent): object {
  const { accepted, position } = result;
  const ofImport = 'failed' in result ? { job: result.job, failed: result.failed } : {};
  const rejected = result.rejected.map((one) => {
    const line = source.lineOf(one.index);
    return line === null ? one : { line, ...one };
  });
  const counted =
    repeats.count === null
      ? {}
      : {
          new: accepted - repeats.count,
          repeats: repeats.count,
          differing: repeats.differing,
          aliases_refused: repeats.aliasesRefused,
        };
  const { problems: unreadable, notices } = source;
  return { accepted, ...counted, ...ofImport, rejected, position, unreadable, notices, retries, seconds };
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}
