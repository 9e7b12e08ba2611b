// Turns one message of Segment's tracking API into an event of POST /ingest. docs/sources.md has the table. Pure.
import { hash } from 'node:crypto';
import { normaliseAlias, type Alias, type MetadataProblem, routeDeclarations } from '@lead-scoring/contracts';
import { correctedTime } from './clock-skew.js';
import type { Message, SentId } from './message.js';
import { metadataOf, textIn, traitsOf } from './metadata-of-message.js';

type SegmentType = routeDeclarations.SegmentType;

/** The event types of messages other than track, whose type is its `event`. */
const eventTypes: Record<Exclude<SegmentType, 'track'>, string> = {
  identify: 'Identify',
  page: 'Page View',
  screen: 'Screen View',
  group: 'Group',
  alias: 'Alias',
};

/**
 * The event that a message becomes, or why its ids name no lead.
 * @param skewMs see `clockSkewMs`; null: unknown, and the time of the message is taken as it is
 */
export function eventOfMessage(
  type: SegmentType,
  message: Message,
  skewMs: number | null,
): { sent: object } | { problems: readonly MetadataProblem[] } {
  const named = aliasesOf(type, message);
  if ('problems' in named) return named;
  const eventId = eventIdOf(message.messageId);
  const timestamp = message.timestamp ?? message.originalTimestamp;
  const metadata = metadataOf(type, message);
  return {
    sent: {
      aliases: named.aliases,
      event_type: type === 'track' ? message.event : eventTypes[type],
      ...(eventId !== undefined && { event_id: eventId }),
      ...(timestamp != null && {
        timestamp: skewMs === null ? timestamp : correctedTime(timestamp, skewMs),
      }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    },
  };
}

/** The name that a field of an event has in the message that it was made from. */
export function pathInMessage(path: string): string {
  const [field = '', ...rest] = path.split('.');
  if (field === 'metadata') return (rest[0] === 'group' ? rest.slice(1) : rest).join('.');
  return [nameInMessage.get(field) ?? field, ...rest].join('.');
}

const nameInMessage = new Map([
  ['event_type', 'event'],
  ['event_id', 'messageId'],
  ['aliases', 'userId'],
]);

const longestEventId = 128;

/** The messageId where an event_id may be so long, else its SHA-256 sum, so that a repeat is known as one too. */
function eventIdOf(messageId: Message['messageId']): string | undefined {
  if (messageId == null || messageId === '') return undefined;
  return messageId.length <= longestEventId ? messageId : hash('sha256', messageId, 'hex');
}

/** The aliases that a message names. As of all events, the known ones will come first. */
function aliasesOf(
  type: SegmentType,
  message: Message,
): { aliases: Alias[] } | { problems: MetadataProblem[] } {
  const problems: MetadataProblem[] = [];
  const aliases = new Aliases(problems);
  aliases.add('user_id', message.userId, 'userId');
  const { email } = traitsOf(type, message);
  if (isEmail(email)) aliases.add('email', email, 'traits.email');
  if (type === 'alias') {
    const { previousId } = message;
    aliases.add(isEmail(previousId) ? 'email' : 'anonymous_id', previousId, 'previousId');
    if (textOf(previousId) === '') problems.push({ path: 'previousId', message: 'must not be empty' });
  }
  aliases.add('anonymous_id', message.anonymousId, 'anonymousId');
  if (aliases.list.length === 0 && problems.length === 0)
    problems.push({ path: 'userId', message: routeDeclarations.segmentNamingRule });
  return problems.length > 0 ? { problems } : { aliases: aliases.list };
}

/** The aliases of a message that have been found so far. */
class Aliases {
  readonly list: Alias[] = [];

  constructor(private readonly problems: MetadataProblem[]) {}

  /** Adds an id, unless it is absent or empty. */
  add(kind: string, id: SentId, path: string): void {
    const value = textOf(id);
    if (value === '') return;
    const normalised = normaliseAlias(kind, value);
    if ('problem' in normalised) this.problems.push({ path, message: normalised.problem });
    else this.list.push({ alias_kind: kind, alias: normalised.alias });
  }
}

function isEmail(value: unknown): value is string {
  return textIn(value) !== undefined && 'alias' in normaliseAlias('email', String(value));
}

function textOf(id: SentId): string {
  return id == null ? '' : String(id).trim();
}
