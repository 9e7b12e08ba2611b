// How far a processor has read its inputs, exactly once with what it decided: the output's records say so themselves.
//
// A header of a transaction's last event says it, at no cost; where there is no event, a record that has nothing else to
// say. The group's offsets are for those who watch the lag: Kafka forgets them once a group is empty for a week.
// docs/decisions/0012-positions-are-in-the-records.md, 0014-the-records-are-believed.md
import { records as declarations, type TopicName } from '@lead-scoring/contracts';
import type { EventLog } from './event-log.js';
import { encodeRecord, type EncodedDeclared } from './outgoing.js';
import { recordBytes } from './kafka/record-batch.js';

/** On a transaction's last event, or on InputsRead: where to read each input on. */
export const positionsHeader = 'positions';

/** `ingest.commands:42,scoring.commands:7`. */
export function formatInputPositions(positions: ReadonlyMap<string, bigint>): string {
  return [...positions].map(([topic, offset]) => `${topic}:${offset}`).join(',');
}

/** What formatInputPositions has made; what is not of that form is passed over. */
export function parseInputPositions(text: string): Map<string, bigint> {
  return new Map(
    text.split(',').flatMap((entry): [string, bigint][] => {
      const [, topic, offset] = /^([^:]+):(\d+)$/.exec(entry) ?? [];
      return topic === undefined || offset === undefined ? [] : [[topic, BigInt(offset)]];
    }),
  );
}

/** The same events, of which the last has these headers too: they say how far the inputs are read. */
export function notingPositions(
  events: readonly EncodedDeclared[],
  stated: Readonly<Record<string, string>>,
): EncodedDeclared[] {
  const last = events.at(-1);
  if (!last) return [];
  const headers = { ...last.message.headers, ...stated };
  const message = { ...last.message, headers };
  return [...events.slice(0, -1), { ...last, message, bytes: recordBytes(message) }];
}

/** A record of the output that is for this package alone: its headers say who owns the partition, and how far the inputs are read. */
export function inputsRead(
  log: EventLog,
  { topic, partition }: { topic: TopicName; partition: number },
  headers: Readonly<Record<string, string>>,
): EncodedDeclared {
  const declaration = declarations.inputsRead.find((one) => one.topic === topic);
  if (!declaration) throw new Error(`${topic} has no record that says how far inputs are read`);
  return encodeRecord(
    log,
    { declaration, key: String(partition), partition, payload: {}, headers },
    Date.now(),
    {},
  );
}

const inputsReadTypes = new Set(declarations.inputsRead.map(({ type }): string => type));
const positionsTypes = new Set([
  ...inputsReadTypes,
  ...declarations.positionsAccepted.map(({ type }): string => type),
]);

interface WithHeaders {
  headers: Readonly<Record<string, unknown>>;
}

/** Whether a record is for this package alone: no service decides on it or folds it. */
export function isOfLogAlone(record: WithHeaders): boolean {
  return hasTypeOf(inputsReadTypes, record);
}

/** Whether a record says something of its own service's positions: it means nothing to any other service. */
export function isOfItsOwner(record: WithHeaders): boolean {
  return hasTypeOf(positionsTypes, record);
}

function hasTypeOf(types: ReadonlySet<string>, { headers: { type } }: WithHeaders): boolean {
  return (typeof type === 'string' || Buffer.isBuffer(type)) && types.has(type.toString());
}

/** A group's offsets as they are committed: with each, where in the output to look for what was noted later. */
export function committedOffsets(
  positions: Iterable<readonly [topic: string, position: bigint]>,
  partition: number,
  outputEnd: bigint,
): { topic: string; partition: number; offset: bigint; metadata: string }[] {
  const metadata = outputEnd.toString();
  return [...positions].map(([topic, offset]) => ({ topic, partition, offset, metadata }));
}

/** What a group's offset says of an input. */
export interface GroupOffset {
  /** Where to read on; undefined when the group does not know the input. */
  position?: bigint;
  /** Up to where the output was written when this was committed; undefined when somebody else has committed it. */
  notedAt?: bigint;
}

/**
 * Where to read each input on: the furthest that the group's offsets or the output's records say. An input that neither
 * knows is left out. The group's offsets never hold back what the records say, whoever has set them: what was decided would
 * be decided again.
 */
export function furthestPositions(
  group: ReadonlyMap<TopicName, GroupOffset>,
  stated: ReadonlyMap<string, bigint>,
): Map<TopicName, bigint> {
  return new Map(
    [...group].flatMap(([topic, { position }]): [TopicName, bigint][] => {
      const said = stated.get(topic);
      const furthest = position === undefined || (said !== undefined && said > position) ? said : position;
      return furthest === undefined ? [] : [[topic, furthest]];
    }),
  );
}
