// The body of a request in a file, as YAML or JSON: reads it, and says of a fault in which line it is, and in what.
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { RequestFailed } from '@lead-scoring/client';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { CommandFailed, exitCodes, failureOf } from './errors.js';
import type { Output } from './output.js';
import type { Settings } from './settings.js';

/** The parts that a command needs to send a file. */
export interface FileCommandContext {
  settings: Settings;
  output: Output;
  stdin: Readable;
}

export interface RequestFile<Body> {
  body: Body;
  /** The error of a refused request in terms of the file; other errors as they are. */
  explain: (error: unknown) => unknown;
}

/**
 * @param file a path, or `-` for standard input
 * @returns the content as the body that the API will check: nothing is checked here
 * @throws CommandFailed for a file that cannot be read, or is neither YAML nor JSON
 */
export async function readRequestFile<Body>(file: string, stdin: Readable): Promise<RequestFile<Body>> {
  const named = file === '-' ? 'Standard input' : file;
  const content = await (file === '-' ? text(stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw new CommandFailed(`${named} cannot be read: ${(error as Error).message}.`, exitCodes.data, {
      cause: error,
    });
  });
  // JSON is YAML too. The API checks the content, and names the part that is wrong.
  const lines = new LineCounter();
  const parsed = parseDocument(content, { lineCounter: lines });
  const [fault] = parsed.errors;
  if (fault)
    throw new CommandFailed(`${named} is neither YAML nor JSON: ${fault.message}`, exitCodes.data, {
      cause: fault,
    });
  const document = valueOf(parsed, named);
  return {
    body: document as Body,
    explain: (error) =>
      error instanceof RequestFailed ? explained(error, { named, document, parsed, lines }) : error,
  };
}

function valueOf(parsed: Document, named: string): unknown {
  try {
    return (parsed.toJS({ maxAliasCount: 100 }) as unknown) ?? {};
  } catch (error) {
    // An alias without an anchor, or aliases that multiply.
    if (!(error instanceof ReferenceError)) throw error;
    throw new CommandFailed(`${named} cannot be read: ${error.message}.`, exitCodes.data, { cause: error });
  }
}

interface Source {
  named: string;
  document: unknown;
  parsed: Document;
  lines: LineCounter;
}

function explained(error: RequestFailed, source: Source): unknown {
  const places = (error.problem?.errors ?? []).filter(({ path }) => path.startsWith('body'));
  if (places.length === 0) return error;
  const shown = places.slice(0, 20).map(({ path, message }) => `  ${placeOf(path, source)}: ${message}`);
  const more = places.length - shown.length;
  if (more > 0) shown.push(`  and ${String(more)} more`);
  const { detail = '', code = '', request_id = '' } = error.problem ?? {};
  const isListed = /^(?:body\b|\d+ problems:)/.test(detail);
  return new CommandFailed(
    [
      `${source.named} was refused, and nothing was changed (${code}, request ${request_id}).`,
      ...(isListed ? [] : [detail]),
      ...shown,
    ].join('\n'),
    failureOf(error).exitCode,
    { cause: error },
  );
}

/** The line and the names of a place: `line 7, engagement_rulesets "Intent", rules "Pricing", weight`. */
function placeOf(path: string, { document, parsed, lines }: Source): string {
  const steps = stepsOf(path);
  const words: string[] = [];
  let part: unknown = document;
  for (const step of steps) {
    part = childOf(part, step);
    if (typeof step === 'string') words.push(step);
    else words.push(`${words.pop() ?? ''} ${nameOf(part) ?? `number ${String(step + 1)}`}`);
  }
  const line = lineOf(steps, parsed, lines);
  const where = line === undefined ? [] : [`line ${String(line)}`];
  return [...where, ...(words.length === 0 ? ['the whole'] : words)].join(', ');
}

/** `body.filters[0].name` as `['filters', 0, 'name']`. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(([, field, index]) =>
    index === undefined ? (field ?? '') : Number(index),
  );
}

function childOf(part: unknown, step: string | number): unknown {
  return typeof part === 'object' && part !== null
    ? (part as Record<string | number, unknown>)[step]
    : undefined;
}

function nameOf(part: unknown): string | undefined {
  for (const field of ['name', 'label', 'event_type', 'field']) {
    const value = childOf(part, field);
    if (typeof value === 'string' && value !== '') return `"${value.slice(0, 100)}"`;
  }
  return undefined;
}

/** The line of the part, or of the part that lacks it. */
function lineOf(
  steps: readonly (string | number)[],
  parsed: Document,
  lines: LineCounter,
): number | undefined {
  for (let length = steps.length; length > 0; length -= 1) {
    const node: unknown = parsed.getIn(steps.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
