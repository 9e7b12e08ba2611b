// POST /ingest and /import: checks sent events and turns them into events of the log, in one pass. This is the hot path
// of the system, so it does not use zod; a test compares its results with those of the zod schema.
import { randomUUID } from 'node:crypto';
import {
  eventName,
  knownFirst,
  leadName,
  nameBasedIds,
  normaliseAlias,
  type Alias,
} from '../vocabulary/identity.js';
import { nearestName } from '../vocabulary/nearest-name.js';
import { checkMetadata, type MetadataProblem } from '../vocabulary/metadata.js';
import type { JsonObject } from '../vocabulary/json.js';
import type { ChunkEvent } from '../records/ingest.js';
import { intakeLimits } from '../routes/intake.js';
import { clip, isObject, type SentEvent } from './sent-events.js';
import { sentTimeRule, utcTime } from './sent-time.js';

export interface IntakeContext {
  ouId: string;
  /** ISO 8601 UTC with milliseconds: the time given to events without a timestamp. */
  receivedAt: string;
  /**
   * The batch's id when it was made from the request's Idempotency-Key: events without an event_id then get ids made
   * from it and their index, so that repeating the request adds nothing. Otherwise null, and their ids are random.
   */
  repeatableBatchId: string | null;
  /** The index of the first event, of a batch that comes in parts; default 0. */
  firstIndex?: number;
}

export interface RejectedEvent {
  /** Index in the batch, from 0. In NDJSON and CSV, blank lines and the header are not counted. */
  index: number;
  errors: MetadataProblem[];
}

export interface ValidatedEvents {
  events: ChunkEvent[];
  rejected: RejectedEvent[];
}

/** Checks each event by the rules of `ingestedEvent`, and that it is at most 24 hours in the future. */
export function validateEvents(sent: readonly SentEvent[], context: IntakeContext): ValidatedEvents {
  const { firstIndex = 0 } = context;
  const idInUnit = nameBasedIds(context.ouId);
  const idInBatch = context.repeatableBatchId === null ? null : nameBasedIds(context.repeatableBatchId);
  const latest = new Date(Date.parse(context.receivedAt) + intakeLimits.futureMs).toISOString();
  const events: ChunkEvent[] = [];
  const rejected: RejectedEvent[] = [];
  const links = new Set<string>();
  let errors: MetadataProblem[] = [];
  for (const [place, event] of sent.entries()) {
    const index = firstIndex + place;
    const checked = 'sent' in event ? check(event.sent, latest, errors) : null;
    if ('unreadable' in event) errors.push({ path: '', message: event.unreadable });
    if ('problems' in event) errors.push(...event.problems);
    if (checked && checked.aliases.length > 1 && errors.length === 0)
      checkLinks(checked.aliases, links, errors);
    const first = checked?.aliases[0];
    if (errors.length > 0 || !checked || !first) {
      rejected.push({ index, errors: errors.slice(0, maximumErrors) });
      errors = [];
      continue;
    }
    const named = checked.eventId !== undefined;
    const chunkEvent: ChunkEvent = {
      id: named
        ? idInUnit(eventName(first.alias_kind, first.alias, checked.eventId ?? ''))
        : idInBatch
          ? idInBatch(`event:${String(index)}`)
          : randomUUID(),
      lead_id: idInUnit(leadName(first.alias_kind, first.alias)),
      aliases: checked.aliases,
      event_type: checked.eventType,
      timestamp: checked.timestamp ?? context.receivedAt,
    };
    if (checked.eventId !== undefined) chunkEvent.event_id = checked.eventId;
    if (named || idInBatch) chunkEvent.may_repeat = true;
    if (checked.metadata !== undefined) chunkEvent.metadata = checked.metadata;
    events.push(chunkEvent);
  }
  return { events, rejected };
}

interface CheckedEvent {
  aliases: Alias[];
  eventType: string;
  timestamp: string | undefined;
  eventId: string | undefined;
  metadata: JsonObject | undefined;
}

const maximumErrors = 20;

/** Adds the problems of the event to `errors`. The result is valid only when there are none. */
function check(event: unknown, latest: string, errors: MetadataProblem[]): CheckedEvent | null {
  if (!isObject(event)) {
    errors.push({ path: '', message: 'must be an object' });
    return null;
  }
  let unknown: string[] | undefined;
  let kind: unknown;
  let alias: unknown;
  let aliases: unknown;
  let eventType: unknown;
  let timestamp: unknown;
  let eventId: unknown;
  let metadata: unknown;
  for (const key of Object.keys(event)) {
    const value = event[key];
    switch (key) {
      case 'alias_kind':
        kind = value;
        break;
      case 'alias':
        alias = value;
        break;
      case 'aliases':
        aliases = value;
        break;
      case 'event_type':
        eventType = value;
        break;
      case 'timestamp':
        timestamp = value;
        break;
      case 'event_id':
        eventId = value;
        break;
      case 'metadata':
        metadata = value;
        break;
      default:
        unknown ??= [];
        if (unknown.length < maximumErrors) unknown.push(key);
    }
  }
  const named: Alias[] = [];
  checkNaming(kind, alias, aliases, named, errors);
  const result: CheckedEvent = {
    aliases: named.length > 1 ? knownFirst(named) : named,
    eventType: '',
    timestamp: undefined,
    eventId: undefined,
    metadata: undefined,
  };
  checkFields(result, eventType, timestamp, eventId, metadata, latest, errors);
  // Unknown fields are reported last: a missing field matters more, and an unknown field may be its misspelling.
  if (unknown) reportUnknownFields(unknown, event, errors);
  return result;
}

/** Fills `named` with the aliases of an event, which come as alias_kind and alias or as aliases. */
function checkNaming(
  kind: unknown,
  alias: unknown,
  aliases: unknown,
  named: Alias[],
  errors: MetadataProblem[],
): void {
  if (aliases === undefined) checkAlias(kind, alias, '', named, errors);
  else if (kind !== undefined || alias !== undefined)
    errors.push({
      path: 'aliases',
      message: 'takes the place of alias_kind and alias: send one of the two forms',
    });
  else checkAliases(aliases, named, errors);
}

/** Fills `checked` with the other known fields of an event. */
function checkFields(
  checked: CheckedEvent,
  eventType: unknown,
  timestamp: unknown,
  eventId: unknown,
  metadata: unknown,
  latest: string,
  errors: MetadataProblem[],
): void {
  if (typeof eventType === 'string') {
    checked.eventType = eventType.trim();
    const problem = problemOfName(checked.eventType);
    if (problem !== null) errors.push({ path: 'event_type', message: problem });
  } else
    errors.push({ path: 'event_type', message: eventType === undefined ? 'is missing' : 'must be a text' });
  if (timestamp !== undefined) {
    const utc = typeof timestamp === 'string' ? utcTime(timestamp) : null;
    if (utc === null) errors.push({ path: 'timestamp', message: sentTimeRule });
    else if (utc > latest)
      errors.push({ path: 'timestamp', message: 'must be at most 24 hours in the future' });
    else checked.timestamp = utc;
  }
  if (eventId !== undefined) {
    if (typeof eventId !== 'string' || eventId.length === 0 || eventId.length > 128)
      errors.push({ path: 'event_id', message: 'must be a text of 1 to 128 characters' });
    else if (!eventId.isWellFormed())
      errors.push({ path: 'event_id', message: 'must be well-formed Unicode' });
    else checked.eventId = eventId;
  }
  if (metadata !== undefined) {
    const problem = checkMetadata(metadata, 'metadata');
    if (problem) errors.push({ path: clip(problem.path), message: problem.message });
    else checked.metadata = metadata as JsonObject;
  }
}

const eventFields = ['alias_kind', 'alias', 'aliases', 'event_type', 'timestamp', 'event_id', 'metadata'];

function reportUnknownFields(
  keys: readonly string[],
  event: Record<string, unknown>,
  errors: MetadataProblem[],
): void {
  const missing = eventFields.filter((field) => !Object.hasOwn(event, field));
  for (const key of keys) {
    const meant = nearestName(key, missing);
    errors.push({
      path: clip(key),
      message: `is not a known field; ${meant === undefined ? '' : `did you mean ${meant}? `}put what is your own into metadata`,
    });
  }
}

function checkAliases(aliases: unknown, named: Alias[], errors: MetadataProblem[]): void {
  if (!Array.isArray(aliases) || aliases.length === 0 || aliases.length > intakeLimits.aliases) {
    errors.push({
      path: 'aliases',
      message: `must be an array of 1 to ${String(intakeLimits.aliases)} {alias_kind, alias}`,
    });
    return;
  }
  for (const [index, one] of (aliases as unknown[]).entries()) {
    const at = `aliases.${String(index)}`;
    if (!isObject(one)) {
      errors.push({ path: at, message: 'must be {alias_kind, alias}' });
      continue;
    }
    const unknown = Object.keys(one).find((key) => key !== 'alias_kind' && key !== 'alias');
    if (unknown !== undefined)
      errors.push({ path: `${at}.${clip(unknown)}`, message: 'is not a known field' });
    else checkAlias(one.alias_kind, one.alias, `${at}.`, named, errors);
  }
}

/** Counts the distinct pairs of a first and a further alias in the request. An event that is refused adds none. */
function checkLinks(
  [first, ...further]: readonly Alias[],
  links: Set<string>,
  errors: MetadataProblem[],
): void {
  if (!first) return;
  // No alias contains a NUL, so no two pairs share a key.
  const added = further
    .map(({ alias_kind, alias }) => `${first.alias_kind}:${first.alias}\u0000${alias_kind}:${alias}`)
    .filter((link) => !links.has(link));
  if (links.size + added.length > intakeLimits.links)
    errors.push({
      path: 'aliases',
      message: `would link more than ${String(intakeLimits.links)} aliases in one request; send more in several requests`,
    });
  else for (const link of added) links.add(link);
}

const kindForm = /^[a-z0-9_]{1,32}$/;

function checkAlias(
  kind: unknown,
  alias: unknown,
  at: string,
  named: Alias[],
  errors: MetadataProblem[],
): void {
  if (typeof kind !== 'string' || !kindForm.test(kind)) {
    errors.push({
      path: `${at}alias_kind`,
      message: kind === undefined ? 'is missing' : 'must be 1 to 32 of a-z, 0-9 and _, such as email',
    });
    return;
  }
  if (typeof alias !== 'string' || alias.length > 512) {
    errors.push({
      path: `${at}alias`,
      message: alias === undefined ? 'is missing' : 'must be a text of at most 512 characters',
    });
    return;
  }
  const normalised = normaliseAlias(kind, alias);
  if ('problem' in normalised) errors.push({ path: `${at}alias`, message: normalised.problem });
  else if (!named.some((known) => known.alias === normalised.alias && known.alias_kind === kind))
    named.push({ alias_kind: kind, alias: normalised.alias });
}

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;
/** A visible character. Engines disagree on whether U+0085 and the byte order mark are white space. */
const visible = /[^\s\u0085\ufeff]/;

function problemOfName(name: string): string | null {
  if (!visible.test(name)) return 'must not be empty';
  if (name.length > 100) return 'must be at most 100 characters';
  if (control.test(name)) return 'must not hold control characters';
  return name.isWellFormed() ? null : 'must be well-formed Unicode';
}
