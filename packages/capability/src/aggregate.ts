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
 * - `done`: its caller is told so. Without an event: the command took effect before.
 * - `postponed`: the command is put behind all that waits, because what it has to know is not there yet.
 * - `unanswered`: its caller is told nothing, or what another command comes to, which names the caller in its headers.
 * - `awaited`: what it asks for is under way; its caller is told the next `answered` of the same key.
 * - `answered`: its caller is told this, and so are those that have awaited it.
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
  /** The key of its record, where that names what several things belong to. Default: `keyOf`. */
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
  /** Commands to others that come of it, also when there is no event. */
  commandsOf?(command: Shape['command'], after: Shape['state']): readonly OutgoingRecord[];
  /** Looks up what these commands have to know, once for all of them. */
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
   * Commands to others that one transaction takes: more of them, of several commands, are sent in several transactions. Default:
   * any number.
   */
  readonly maximumCommands?: number;
  /** States that a partition keeps in memory. Default 200. */
  readonly cachedStates?: number;
}
