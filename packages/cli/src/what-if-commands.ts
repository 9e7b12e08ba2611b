// `lead-scoring what-if`: tries a draft of changed rules on the recorded history, and makes it live.
import type { CallInput } from '@lead-scoring/client';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { exitCodes } from './errors.js';
import { areaOf, comparedLeads, count, percentage } from './job-findings.js';
import { resultOfJob } from './job-progress.js';
import { table, type Output } from './output.js';
import { readRequestFile, type FileCommandContext } from './request-file.js';
import type { Settings } from './settings.js';

type WhatIfForm = CallInput<'startWhatIf'>['body'];
type Result = routeDeclarations.WhatIfResult;

/**
 * @param file the body of POST /scoring/what-if as YAML or JSON; `-` for standard input
 * @returns the exit code: 1 when the job was cancelled or has failed
 */
export async function whatIf(
  file: string,
  flags: { json?: boolean },
  { settings, output, stdin }: FileCommandContext,
): Promise<number> {
  const { body, explain } = await readRequestFile<WhatIfForm>(file, stdin);
  const client = clientOf(settings, promptRetries);
  const { job_id: id } = await client.call('startWhatIf', { body }).catch((error: unknown) => {
    throw explain(error);
  });
  const result = await resultOfJob(client, { id, work: 'replays the history', part: 'draft' }, flags, output);
  if (!result) return exitCodes.incomplete;
  if (flags.json === true) return exitCodes.done;
  output.write(whatIfSummary(result));
  if (!result.overtaken) output.note(`To make the draft live: what-if apply ${id}\n`);
  return exitCodes.done;
}

/** A what-if as text: the leads that would move, with the reasons; how well each side finds the outcome; the triggers that would have fired. */
export function whatIfSummary(result: Result): string {
  const overtaken = result.overtaken
    ? 'The rules have changed since: this is about those of before, and the draft cannot be applied.'
    : null;
  return `${comparedLeads(result, ['live', 'draft'], { overtaken })}\n${outcomeTable(result)}${triggerTable(result)}`;
}

/** How well each side finds the leads with the outcome; empty without an outcome. */
function outcomeTable({ live, draft }: Result): string {
  if (live.auc === undefined) return '';
  const rows = measures.flatMap(({ name, of }) => {
    const [ofLive, ofDraft] = [of(live), of(draft)];
    return ofLive === null || ofDraft === null ? [] : [{ name: name(live), ofLive, ofDraft }];
  });
  const outcome = table(rows, [
    { title: 'OUTCOME', value: ({ name }) => name },
    { title: 'LIVE', value: ({ ofLive }) => ofLive },
    { title: 'DRAFT', value: ({ ofDraft }) => ofDraft },
  ]);
  return `\n${outcome}\n`;
}

/** How often each trigger fires on both sides; empty without triggers. */
function triggerTable({ triggers }: Result): string {
  if (triggers.length === 0) return '';
  const fired = table(triggers.slice(0, shownTriggers), [
    { title: 'TRIGGER', value: ({ name }) => name },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'LIVE', value: ({ live }) => count(live), align: 'right' },
    { title: 'DRAFT', value: ({ draft }) => count(draft), align: 'right' },
  ]);
  return `\n${fired}\n`;
}

const shownTriggers = 20;

type Side = Result['live'];

interface Measure {
  name: (side: Side) => string;
  /** null where the what-if did not ask for it. */
  of: (side: Side) => string | null;
}

const share = (rate: number | null) => (rate === null ? 'none' : percentage(rate));

/** A figure about the leads with the score of the threshold or more. */
const atThreshold = (name: string, of: (at: NonNullable<Side['at_threshold']>) => string): Measure => ({
  name: ({ at_threshold: at }) => `${name} with ${String(at?.threshold)} points or more`,
  of: ({ at_threshold: at }) => (at ? of(at) : null),
});

const measures: readonly Measure[] = [
  { name: () => 'AUC (95 % interval)', of: areaOf },
  {
    name: () => 'lift of the best tenth',
    of: ({ lift_top_decile: lift }) => lift?.toFixed(2) ?? 'none',
  },
  atThreshold('leads', ({ leads }) => count(leads)),
  atThreshold('precision', ({ precision }) => share(precision)),
  atThreshold('recall', ({ recall }) => share(recall)),
];

/**
 * Makes the draft of a what-if live, as one change.
 * @returns the exit code
 */
export async function applyWhatIf(
  job: string,
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const applied = await clientOf(settings, promptRetries).call('applyWhatIf', { parameters: { job } });
  output.write(
    flags.json === true
      ? `${JSON.stringify(applied, null, 2)}\n`
      : `The draft is live, for what comes from now on: the configuration has version ${String(applied.version)}.\n`,
  );
  return exitCodes.done;
}
