// An aggregate: commands about one thing, decided on in order with the state that its earlier events have made.
import type { JsonValue, ProblemCode, RecordDeclaration, records } from '@lead-scoring/contracts';
import type { IncomingRecord, OutgoingRecord } from '@lead-scoring/event-log';
import type { AggregateStorage } from './aggregate-storage.js';
import type { PartitionScope } from './capability.js';

/** The types of one aggregate, in one place. */
export interface AggregateShape {
  /** The aggregate's state: a union on `status` where states exclude each other, null before it exists. */
  state: unknown;
  command: { readonly type: string; readonly payload: unknown };
  event: { readonly type: string; readonly payload: unknown };
  /** Facts of other partitions or services that a decision needs besides the state. */
  context: unknown;
}

/** A refusal is expected: the caller is told, and nothing happens. */
export interface Rejection {
  readonly outcome: 'rejected';
  readonly code: ProblemCode;
  readonly message: string;
  readonly errors?: { path: string; message: string }[];
}

/**
 * The outcome of a command.
 * - `done`: the caller gets a reply. Without an event: the command took effect before.
 * - `postponed`: the command goes to the end of the log once more, because facts that its decision needs are not there yet.
 * - `unanswered`: the caller gets no reply, or the reply to another command, which names the caller in its headers.
 * - `awaited`: the work is under way already; the caller gets the next `answered` reply of the same key.
 * - `answered`: the caller gets the reply, and so does each caller that has awaited it.
 */
export type AggregateDecision<Shape extends AggregateShape> =
  | {
      readonly outcome: 'done';
      readonly events: readonly Shape['event'][];
      /** Beside those that `commandsOf` names. */
      readonly commands?: readonly OutgoingRecord[];
      readonly result?: JsonValue | undefined;
    }
  | Rejection
  | { readonly outcome: 'postponed' }
  | {
      readonly outcome: 'unanswered';
      readonly events: readonly Shape['event'][];
      readonly commands?: readonly OutgoingRecord[];
    }
  | { readonly outcome: 'awaited' }
  | {
      readonly outcome: 'answered';
      readonly events: readonly Shape['event'][];
      readonly reply: records.CommandReplied;
    };

/** Why a command is not even decided on: it goes to the dead letters with `reason`, and its caller is told `rejection`. */
export interface Refusal {
  readonly reason: string;
  readonly rejection: Rejection;
}

export interface AggregateDeclaration<Shape extends AggregateShape> {
  readonly name: string;
  readonly commands: { readonly [Type in Shape['command']['type']]: RecordDeclaration };
  readonly events: { readonly [Type in Shape['event']['type']]: RecordDeclaration };
  /** Names the thing that a command or an event is about. */
  keyOf(message: Shape['command'] | Shape['event']): string;
  /** The key of the message's record, where several things share one record key. Default: `keyOf`. */
  recordKeyOf?(message: Shape['command'] | Shape['event']): string;
  initial(key: string): Shape['state'];
  /** Pure: time and ids come with the command. The same command again gives no event. */
  decide(
    command: Shape['command'],
    state: Shape['state'],
    context: Shape['context'],
  ): AggregateDecision<Shape>;
  /** Pure. @param offset of the event's record; null while the event is being decided */
  evolve(state: Shape['state'], event: Shape['event'], offset: number | null): Shape['state'];
  /** The answer to a command that took effect, now or before; undefined for none. A decision's own `result` comes first. */
  resultOf?(
    command: Shape['command'],
    after: Shape['state'],
    context: Shape['context'],
  ): JsonValue | undefined;
  /** Further commands that the command causes, also when its decision gives no event. */
  commandsOf?(command: Shape['command'], after: Shape['state']): readonly OutgoingRecord[];
  /** Looks up the facts that the decisions on these commands need, in one call. */
  contextOf?(commands: readonly Shape['command'][], scope: PartitionScope): Promise<Shape['context']>;
  /** The context of the next command of the batch, once these events are decided. Default: unchanged. */
  contextAfter?(context: Shape['context'], events: readonly Shape['event'][]): Shape['context'];
  /** Looks at a command's record before it is decided on; null: it may be. */
  refuse?(record: IncomingRecord): Refusal | null;
  /** Reads a command from its record. Default: its type and payload. */
  commandFrom?(record: IncomingRecord): Shape['command'];
  /** Reads an event from its record. Default: its type and payload. */
  eventFrom?(record: IncomingRecord): Shape['event'];
  headersOf?(event: Shape['event'], cause: IncomingRecord): Readonly<Record<string, string>>;
  readonly stored: AggregateStorage<Shape['state'], Shape['event']>;
  /**
   * Maximum number of further commands in one transaction. A batch of several commands that causes more is split; a single command
   * may cause more. Default: no maximum.
   */
  readonly maximumCommands?: number;
  /** States that a partition keeps in memory. Default 200. */
  readonly cachedStates?: number;
}
