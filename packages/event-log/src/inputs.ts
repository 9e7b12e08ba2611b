// What a service reads: for each topic every record type that is declared for it, and whether the service takes it. A type
// that the table does not name does not compile; a record of one is parked, never passed over.
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

/** The records of a topic that a table takes, told apart by their type. */
export type TakenRecord<Topic extends TopicName, Table extends Uses> = RecordOf<
  Extract<DeclaredOn<Topic>, { type: TakenType<Table> }>
>;

/** The record as one that the table of its topic takes; null for one of another topic, and for one that is not taken. */
export function takenOf<Topic extends TopicName, const Table extends Uses, Incoming extends IncomingRecord>(
  topic: Topic,
  table: Table,
  record: Incoming,
): (Incoming & TakenRecord<Topic, Table>) | null {
  const isTaken =
    record.topic === topic && Object.hasOwn(table, record.type) && table[record.type] === 'taken';
  return isTaken ? (record as Incoming & TakenRecord<Topic, Table>) : null;
}

/** What a service does with records of this type; undefined where its table does not name it. */
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

/** A table that takes all that is declared for these topics: for services that are made up for a test. */
export function takingAll(...topics: readonly TopicName[]): InputTable {
  return Object.fromEntries(
    topics.map((topic) => [topic, Object.fromEntries(recordsOf(topic).map(({ type }) => [type, 'taken']))]),
  );
}
