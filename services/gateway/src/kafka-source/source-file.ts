// The file that describes a source: a topic, its format, and how its records become events. docs/sources.md
import { readFileSync } from 'node:fs';
import { routeDeclarations } from '@lead-scoring/contracts';
import { sourceFormats } from '@lead-scoring/event-log';
import { z } from 'zod';

const path = z.union([z.string().max(1_000), z.array(z.string().max(1_000)).max(32)]);

const place = z.union(
  [
    z.strictObject({ value: path }),
    z.strictObject({ key: path }),
    z.strictObject({ header: z.string().min(1).max(1_000) }),
    z.strictObject({ fixed: z.string().max(1_000) }),
  ],
  { error: 'must be {"value": "path"}, {"key": "path"}, {"header": "name"} or {"fixed": "text"}' },
);

const unit = z.enum(['s', 'ms', 'us']).default('ms');

const timePlace = z.union(
  [
    z.strictObject({ value: path, unit }),
    z.strictObject({ key: path, unit }),
    z.strictObject({ header: z.string().min(1).max(1_000), unit }),
  ],
  {
    error:
      'must be {"value": "path"}, {"key": "path"} or {"header": "name"}, where a number counts "unit": "s", "ms" or "us" since 1970',
  },
);

const metadata = z.union(
  [
    z.strictObject({ value: path }),
    z.strictObject({ key: path }),
    z.strictObject({ fields: z.record(z.string().min(1).max(200), place) }),
  ],
  { error: 'must be {"value": "path"} or {"key": "path"} of an object, or {"fields": {"name": {…}, …}}' },
);

const otherFields = {
  event_type: place,
  timestamp: timePlace.optional(),
  event_id: place.optional(),
  metadata: metadata.optional(),
  ou_id: place.optional(),
};

const named = { alias_kind: place, alias: place };

const mapping = z.union(
  [
    z.strictObject({ ...named, ...otherFields }),
    z.strictObject({
      aliases: z.array(z.strictObject(named)).min(1).max(routeDeclarations.intakeLimits.aliases),
      ...otherFields,
    }),
  ],
  {
    error:
      'must have event_type, and either alias_kind and alias or aliases, each as {"value": "path"}, {"key": "path"}, {"header": "name"} or {"fixed": "text"}; it may have timestamp, event_id, metadata and ou_id',
  },
);

const sourceFile = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -'),
  topic: z.string().regex(/^[a-zA-Z0-9._-]{1,249}$/, 'must be the name of a topic'),
  format: z.enum(sourceFormats).exclude(['text']),
  key_format: z.enum(sourceFormats).default('text'),
  start_at: z.enum(['earliest', 'latest']).default('earliest'),
  fire_triggers: z.boolean().default(true),
  event: mapping,
});

export type SourceFile = z.output<typeof sourceFile>;
export type EventMapping = SourceFile['event'];
export type Place = z.output<typeof place>;
export type TimePlace = z.output<typeof timePlace>;
export type MetadataPlace = z.output<typeof metadata>;

/** @returns the file, or what is wrong with it */
export function parseSourceFile(text: string): SourceFile | { problems: string[] } {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return { problems: [`is not JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const parsed = sourceFile.safeParse(content);
  if (parsed.success) return parsed.data;
  return {
    problems: parsed.error.issues.map(({ path: at, message }) =>
      at.length === 0 ? message : `${at.map(String).join('.')} ${message}`,
    ),
  };
}

/** Reads the file that a setting names. */
export const sourceFileSetting = z.string().transform((name, context): SourceFile => {
  const parsed = readOrProblem(name);
  if (!('problems' in parsed)) return parsed;
  for (const problem of parsed.problems)
    context.addIssue({ code: 'custom', message: `names ${name}: ${problem}` });
  return z.NEVER;
});

function readOrProblem(name: string): ReturnType<typeof parseSourceFile> {
  try {
    return parseSourceFile(readFileSync(name, 'utf8'));
  } catch (error) {
    return { problems: [`it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`] };
  }
}
