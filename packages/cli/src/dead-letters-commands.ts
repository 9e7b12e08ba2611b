// `lead-scoring dead-letters`: the records that a service could not process: list, read, send again, discard.
import type { ServiceName } from '@lead-scoring/contracts';
import {
  awaitOutcomes,
  discardDeadLetters,
  isResolved,
  listDeadLetters,
  readDeadLetter,
  retryDeadLetters,
  type DeadLetter,
} from '@lead-scoring/event-log';
import { CommandFailed, exitCodes } from './errors.js';
import { wholeNumber } from './ingest-command.js';
import { ensureUsed, withEventLog } from './log-commands.js';
import { plain, table, type Output } from './output.js';
import type { Settings } from './settings.js';

/** @returns the exit code */
export async function showDeadLetters(
  service: ServiceName,
  flags: { json?: boolean; all?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const letters: DeadLetter[] = [];
  let resolved = 0;
  await withEventLog(settings, async (log) => {
    for await (const letter of listDeadLetters(log, service))
      if (flags.all === true || !isResolved(letter)) letters.push(letter);
      else resolved += 1;
  });
  if (flags.json === true) output.write(`${JSON.stringify(letters.map(asJson), null, 2)}\n`);
  else if (letters.length === 0)
    output.write(`${service} has no dead letters${resolved > 0 ? ' to attend to' : ''}.\n`);
  else {
    output.write(
      `${table(letters, [
        { title: 'ID', value: ({ id }) => id },
        { title: 'TIME', value: ({ time }) => time },
        { title: 'TYPE', value: ({ type }) => type ?? '?' },
        { title: 'FROM', value: ({ origin }) => `${origin.topic} ${origin.partition}:${origin.offset}` },
        { title: 'TRIES', value: ({ attempts }) => attempts, align: 'right' },
        { title: 'RETRIED', value: retriedWord },
        { title: 'REASON', value: ({ reason }) => reason, maximum: 100 },
      ])}\n`,
    );
    if (letters.some(({ retried, source }) => !retried && source === undefined))
      output.note(`Send them again with: lead-scoring dead-letters retry ${service}\n`);
    for (const source of new Set(letters.flatMap((letter) => letter.source ?? [])))
      output.note(
        `Records of the source ${plain(source)} are not sent again. Correct its mapping, and let it read its topic again: what was taken before counts once (docs/sources.md, "When a record cannot be taken").\n`,
      );
  }
  if (resolved > 0 && flags.json !== true)
    output.note(`${resolved} that were resolved or discarded are not shown; --all shows them.\n`);
  return exitCodes.done;
}

/**
 * Writes the content of one dead letter.
 * @returns the exit code
 */
export async function showDeadLetter(
  service: ServiceName,
  id: string,
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  requireIds([id]);
  const found = await withEventLog(settings, (log) => readDeadLetter(log, service, id));
  if (!found) throw new CommandFailed(`${service} has no dead letter ${id}.`, exitCodes.data);
  const { letter, headers, payload } = found;
  if (flags.json === true) {
    output.write(`${JSON.stringify({ ...asJson(letter), headers, payload }, null, 2)}\n`);
    return exitCodes.done;
  }
  const { topic, partition, offset } = letter.origin;
  const lines = [
    `${letter.type ?? '?'} of ${topic} ${partition}:${offset}, parked ${letter.time}`,
    `reason: ${letter.reason}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  output.write(`${lines.map(plain).join('\n')}\n\n${plain(payload)}\n`);
  return exitCodes.done;
}

/** @returns the exit code */
export async function discardLetters(
  service: ServiceName,
  ids: string[],
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  requireIds(ids);
  const discarded = await withEventLog(settings, async (log) => {
    await ensureUsed(log, service);
    return discardDeadLetters(log, service, ids);
  });
  if (flags.json === true) output.write(`${JSON.stringify(discarded.map(asJson), null, 2)}\n`);
  else output.write(`${discarded.length} discarded.\n`);
  const missing = ids.filter((id) => !discarded.some((letter) => letter.id === id));
  if (missing.length === 0) return exitCodes.done;
  output.note(`Not discarded: ${missing.join(', ')} (unknown, or discarded before).\n`);
  return exitCodes.incomplete;
}

/** @throws CommandFailed that names the first text which is no id of a dead letter */
function requireIds(ids: readonly string[]): void {
  const wrong = ids.find((id) => !/^\d{1,4}:\d{1,19}$/.test(id));
  if (wrong === undefined) return;
  throw new CommandFailed(
    `"${wrong}" is not the id of a dead letter. Ids look like 3:17; \`dead-letters list\` shows them.`,
    exitCodes.usage,
  );
}

/** @returns the exit code */
export async function retryLetters(
  service: ServiceName,
  ids: string[],
  flags: { json?: boolean; again?: boolean; wait?: string },
  settings: Settings,
  output: Output,
): Promise<number> {
  requireIds(ids);
  const seconds = wholeNumber('--wait', flags.wait ?? '30', 0, 86_400);
  const retried = await withEventLog(settings, async (log) => {
    await ensureUsed(log, service);
    await log.prepare();
    const which = { ...(ids.length > 0 && { ids }), again: flags.again === true };
    const sent = await retryDeadLetters(log, service, which);
    return awaitOutcomes(log, service, sent.retried, { timeoutMs: seconds * 1_000 });
  });
  if (flags.json === true) output.write(`${JSON.stringify(retried.map(asJson), null, 2)}\n`);
  else writeOutcomes(service, retried, { seconds, output });
  const missing = ids.filter((id) => !retried.some((letter) => letter.id === id));
  const isDone = retried.every(({ outcome }) => outcome !== null && outcome !== 'parked');
  if (missing.length === 0) return isDone ? exitCodes.done : exitCodes.incomplete;
  output.note(
    `Not sent: ${missing.join(', ')} (unknown, of a source, or sent before; --again sends the last).\n`,
  );
  return exitCodes.incomplete;
}

const outcomeWords = {
  effect: 'took effect',
  none: 'without effect',
  refused: 'refused',
  parked: 'parked again',
  discarded: 'discarded',
} as const;

function retriedWord({ retried, outcome }: DeadLetter): string {
  if (!retried) return 'no';
  return outcome === null ? 'not decided' : outcomeWords[outcome];
}

/** Names the dead letters that had no effect, were refused or became dead letters again. */
function writeOutcomes(
  service: ServiceName,
  letters: readonly DeadLetter[],
  { seconds, output }: { seconds: number; output: Output },
): void {
  const counts = new Map<string, number>();
  for (const letter of letters) counts.set(retriedWord(letter), (counts.get(retriedWord(letter)) ?? 0) + 1);
  const counted = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  output.write(`${letters.length} sent again${counted === '' ? '' : `: ${counted}`}.\n`);
  for (const { id, type, outcome, refusal = '' } of letters) {
    const name = `${id} ${plain(type ?? '?')}`;
    if (outcome === 'none')
      output.note(`${name} had no effect: it came too late, or had taken effect before.\n`);
    else if (outcome === 'refused') output.note(`${name} was refused: ${plain(refusal)}\n`);
    else if (outcome === 'parked')
      output.note(`${name} is a dead letter again: \`dead-letters list ${service}\` shows the reason.\n`);
    else if (outcome === null)
      output.note(
        `${name} was not decided within ${seconds} s. Is ${service} running? \`dead-letters list ${service} --all\` shows the outcome.\n`,
      );
  }
}

function asJson(letter: DeadLetter): object {
  return { ...letter, origin: { ...letter.origin, offset: Number(letter.origin.offset) } };
}
