// The input table of a service: for each topic every declared record type, and whether the service takes it. A table
// that omits a declared type does not compile; a record of an unnamed type is parked.
import { recordsOf, type DeclaredOn, type PayloadOf, type TopicName } from '@lead-scoring/contracts';
import type { IncomingRecord } from './records.js';

export type TypeUse = 'taken' | 'ignored';

/** By topic and type. A command cannot be ignored: its sender expects it to be carried out. */
export type InputTable = {
  readonly [Topic in TopicName]?: {
    readonly [Type in DeclaredOn<Topic>['type']]: Topic extends `${string}.commands` ? 'taken' : TypeUse;
  };
};

type Uses = Readonly<Record<string, TypeUse>>;

type TakenType<Table extends Uses> = {
  [Type in keyof Table]: Table[Type] extends 'taken' ? Type : never;
}[keyof Table];

type RecordOf<Declaration> =
  Declaration extends DeclaredOn<TopicName>
    ? IncomingRecord<PayloadOf<Declaration>> & Pick<Declaration, 'type' | 'topic'>
    : never;

/** The union of the records of a topic that a table takes, discriminated by `type`. */
export type TakenRecord<Topic extends TopicName, Table extends Uses> = RecordOf<
  Extract<DeclaredOn<Topic>, { type: TakenType<Table> }>
>;

/** Narrows a record to a taken record of this topic; null for a record of another topic and for an ignored record. */
export function takenOf<Topic extends TopicName, const Table extends Uses, Incoming extends IncomingRecord>(
  topic: Topic,
  table: Table,
  record: Incoming,
): (Incoming & TakenRecord<Topic, Table>) | null {
  const isTaken =
    record.topic === topic && Object.hasOwn(table, record.type) && table[record.type] === 'taken';
  return isTaken ? (record as Incoming & TakenRecord<Topic, Table>) : null;
}

/** Whether a service takes or ignores records of this type; undefined when its table does not name the type. */
export function useOf(
  inputs: { readonly [Topic in TopicName]?: Uses },
  topic: TopicName,
  type: string,
): TypeUse | undefined {
  const uses = inputs[topic];
  return uses && Object.hasOwn(uses, type) ? uses[type] : undefined;
}

export function topicsOf(inputs: InputTable): readonly TopicName[] {
  return Object.keys(inputs) as TopicName[];
}

/** A table that takes every declared type of these topics, for test services. */
export function takingAll(...topics: readonly TopicName[]): InputTable {
  return Object.fromEntries(
    topics.map((topic) => [topic, Object.fromEntries(recordsOf(topic).map(({ type }) => [type, 'taken']))]),
  );
}
