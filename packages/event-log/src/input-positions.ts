// The input positions of a processor, stated by the records of its output, exactly once with the decisions.
//
// The last event of a transaction states the positions in a header; a transaction without events writes a record
// InputsRead for them. The group's committed offsets only serve lag monitors: Kafka deletes them once a group has been
// empty for a week. docs/decisions/0012-positions-are-in-the-records.md, 0014-the-records-are-believed.md
import { records as declarations, type TopicName } from '@lead-scoring/contracts';
import type { EventLog } from './event-log.js';
import { encodeRecord, type EncodedDeclared } from './outgoing.js';
import { recordBytes } from './kafka/record-batch.js';

/** On a transaction's last event or on InputsRead: the next offset to read of each input. */
export const positionsHeader = 'positions';

/** `ingest.commands:42,scoring.commands:7`. */
export function formatInputPositions(positions: ReadonlyMap<string, bigint>): string {
  return [...positions].map(([topic, offset]) => `${topic}:${offset}`).join(',');
}

/** Parses the output of formatInputPositions; entries of another form are skipped. */
export function parseInputPositions(text: string): Map<string, bigint> {
  return new Map(
    text.split(',').flatMap((entry): [string, bigint][] => {
      const [, topic, offset] = /^([^:]+):(\d+)$/.exec(entry) ?? [];
      return topic === undefined || offset === undefined ? [] : [[topic, BigInt(offset)]];
    }),
  );
}

/** The same events, with the headers of a position statement added to the last one. */
export function withPositions(
  events: readonly EncodedDeclared[],
  stated: Readonly<Record<string, string>>,
): EncodedDeclared[] {
  const last = events.at(-1);
  if (!last) return [];
  const headers = { ...last.message.headers, ...stated };
  const message = { ...last.message, headers };
  return [...events.slice(0, -1), { ...last, message, bytes: recordBytes(message) }];
}

/** A record InputsRead for the output: its headers state the owner of the partition and the input positions. */
export function inputsReadRecord(
  log: EventLog,
  { topic, partition }: { topic: TopicName; partition: number },
  headers: Readonly<Record<string, string>>,
): EncodedDeclared {
  const declaration = declarations.inputsRead.find((one) => one.topic === topic);
  if (!declaration) throw new Error(`${topic} has no declaration of InputsRead`);
  return encodeRecord(
    log,
    { declaration, key: String(partition), partition, payload: {}, headers },
    Date.now(),
    {},
  );
}

const meaninglessTypes = new Set(
  [...declarations.inputsRead, ...declarations.recordErased].map(({ type }): string => type),
);
const positionsTypes = new Set([
  ...meaninglessTypes,
  ...declarations.positionsAccepted.map(({ type }): string => type),
]);

interface WithHeaders {
  headers: Readonly<Record<string, unknown>>;
}

/** Whether a record is InputsRead or RecordErased, which no service decides on or folds. */
export function isMeaningless(record: WithHeaders): boolean {
  return hasTypeOf(meaninglessTypes, record);
}

/** Whether a record is the log's own (InputsRead, RecordErased or PositionsAccepted); it has no meaning for other services. */
export function isPositionStatement(record: WithHeaders): boolean {
  return hasTypeOf(positionsTypes, record);
}

function hasTypeOf(types: ReadonlySet<string>, { headers: { type } }: WithHeaders): boolean {
  return (typeof type === 'string' || Buffer.isBuffer(type)) && types.has(type.toString());
}

/**
 * The group offsets to commit. Each carries the output's end as metadata: later positions are stated in the output
 * after it.
 */
export function committedOffsets(
  positions: Iterable<readonly [topic: string, position: bigint]>,
  partition: number,
  outputEnd: bigint,
): { topic: string; partition: number; offset: bigint; metadata: string }[] {
  const metadata = outputEnd.toString();
  return [...positions].map(([topic, offset]) => ({ topic, partition, offset, metadata }));
}

/** The group's committed offset of an input. */
export interface GroupOffset {
  /** The committed position; undefined when the group has none for the input. */
  position?: bigint;
  /** The output's end at the commit; undefined for an offset committed by another tool. */
  outputEndAtCommit?: bigint;
}

/**
 * The next offset to read of each input: the higher of the group's offset and the position stated in the output. An
 * input that has neither is left out. A group offset below the stated position is ignored, so that no record is decided
 * twice.
 */
export function furthestPositions(
  group: ReadonlyMap<TopicName, GroupOffset>,
  stated: ReadonlyMap<string, bigint>,
): Map<TopicName, bigint> {
  return new Map(
    [...group].flatMap(([topic, { position }]): [TopicName, bigint][] => {
      const statedPosition = stated.get(topic);
      const furthest =
        position === undefined || (statedPosition !== undefined && statedPosition > position)
          ? statedPosition
          : position;
      return furthest === undefined ? [] : [[topic, furthest]];
    }),
  );
}
