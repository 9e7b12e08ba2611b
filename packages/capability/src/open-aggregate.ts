// An aggregate in one partition: loads states, decides on commands in order, and folds what it has recorded.
import type { JsonValue, RecordDeclaration } from '@lead-scoring/contracts';
import {
  outgoing,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type Reply,
} from '@lead-scoring/event-log';
import { createStateCache, offsetToNumber, type StateCache } from '@lead-scoring/read-model';
import type { AggregateDecision, AggregateDeclaration, AggregateShape } from './aggregate.js';
import type { ChangedState, StoredState } from './aggregate-storage.js';
import { callerHeaders, callerOf, WaitingCommands } from './callers.js';
import type { CapabilityDecision, OpenCapability, PartitionScope } from './capability.js';

const defaultCachedStates = 200;

export class OpenAggregate<Shape extends AggregateShape> implements OpenCapability {
  readonly #cache: StateCache<StoredState<Shape['state']>>;
  readonly #decided = new WeakMap<readonly IncomingRecord[], ReadonlyMap<string, Shape['state']>>();
  readonly #waiting = new WaitingCommands();
  readonly #storage;

  constructor(
    private readonly declaration: AggregateDeclaration<Shape>,
    private readonly scope: PartitionScope,
  ) {
    this.#cache = createStateCache({ maximumEntries: declaration.cachedStates ?? defaultCachedStates });
    this.#storage = declaration.stored.open(scope.readModel, scope.partition);
  }

  /** The states under these keys, as folded. */
  async load(keys: Iterable<string>): Promise<Map<string, StoredState<Shape['state']> | null>> {
    return this.#cache.load(keys, (missing) => this.#storage.load(missing));
  }

  /** By key, the states that commands of this batch were decided on and have made: nothing of them is folded yet. */
  decidedIn(batch: readonly IncomingRecord[]): ReadonlyMap<string, Shape['state']> {
    return this.#decided.get(batch) ?? new Map<string, Shape['state']>();
  }

  async decide(
    records: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const deciding = new AggregateBatch(this.declaration, this.#waiting);
    const commands = records.flatMap((record) => deciding.admit(record) ?? []);
    const { declaration } = this;
    const [stored, given] = await Promise.all([
      this.load(commands.map(({ command }) => declaration.keyOf(command))),
      declaration.contextOf?.(
        commands.map(({ command }) => command),
        this.scope,
      ),
    ]);
    const { maximumCommands = Infinity, name } = declaration;
    let context: Shape['context'] = given;
    for (const { record, command } of commands) {
      const found = stored.get(declaration.keyOf(command)) ?? null;
      const events = deciding.decide(record, command, { found, context });
      if (declaration.contextAfter) context = declaration.contextAfter(context, events);
      if (commands.length > 1 && deciding.decided.commands.length > maximumCommands)
        return {
          outcome: 'split',
          reason: `${name} sends more than ${String(maximumCommands)} commands in one batch`,
        };
    }
    this.#decided.set(batch, deciding.states);
    return { outcome: 'decided', ...deciding.decided, replies: deciding.replies() };
  }

  /** @returns the states that these events have changed, which are stored */
  async fold(
    folded: readonly FoldedRecord[],
  ): Promise<readonly ChangedState<Shape['state'], Shape['event']>[]> {
    const { declaration } = this;
    const events = folded.map((record) => ({
      event: eventOf(this.declaration, record),
      offset: offsetToNumber(record.offset),
    }));
    const stored = await this.load(events.map(({ event }) => declaration.keyOf(event)));
    const changed = new Map<string, ChangedState<Shape['state'], Shape['event']>>();
    const eventsOf = new Map<string, { event: Shape['event']; offset: number }[]>();
    for (const { event, offset } of events) {
      const key = declaration.keyOf(event);
      const known = changed.get(key) ?? stored.get(key) ?? null;
      // Folded already, before a crash.
      if (known && this.#isFolded(known, event, offset)) continue;
      const state = declaration.evolve(known ? known.state : declaration.initial(key), event, offset);
      const changes = eventsOf.get(key) ?? [];
      changes.push({ event, offset });
      eventsOf.set(key, changes);
      changed.set(key, { key, state, offset, events: changes });
    }
    await this.#storage.write([...changed.values()]);
    // Only what is stored is in the cache, so it is never ahead of what is stored.
    for (const [key, { state, offset }] of changed) this.#cache.put(key, { state, offset });
    return [...changed.values()];
  }

  #isFolded(known: StoredState<Shape['state']>, event: Shape['event'], offset: number): boolean {
    return this.declaration.stored.isFolded?.(known, event, offset) ?? known.offset >= offset;
  }

  forget(): void {
    this.#cache.clear();
  }
}

/** What the commands of one batch have come to so far. */
class AggregateBatch<Shape extends AggregateShape> {
  /** By key, as the commands of the batch have made them. */
  readonly states = new Map<string, Shape['state']>();
  readonly decided = {
    events: [] as OutgoingRecord[],
    commands: [] as OutgoingRecord[],
    deadLetters: [] as { record: IncomingRecord; reason: string }[],
  };

  readonly #replies: Reply[] = [];
  /** Replies that depend on what waits, which changes only with what is committed. */
  readonly #laterReplies: (() => readonly Reply[])[] = [];

  constructor(
    private readonly declaration: AggregateDeclaration<Shape>,
    private readonly waiting: WaitingCommands,
  ) {}

  replies(): Reply[] | (() => Reply[]) {
    const replies = this.#replies;
    const later = this.#laterReplies;
    return later.length === 0 ? replies : () => [...replies, ...later.flatMap((reply) => reply())];
  }

  /** The command of a record that may be decided on; null where it is refused. */
  admit(record: IncomingRecord): { record: IncomingRecord; command: Shape['command'] } | null {
    const refusal = this.declaration.refuse?.(record);
    if (!refusal) return { record, command: commandOf(this.declaration, record) };
    this.decided.deadLetters.push({ record, reason: refusal.reason });
    this.#replies.push({ to: record, reply: refusal.rejection });
    return null;
  }

  /**
   * @param found the state as folded
   * @returns the events that were decided
   */
  decide(
    record: IncomingRecord,
    command: Shape['command'],
    { found, context }: { found: StoredState<Shape['state']> | null; context: Shape['context'] },
  ): readonly Shape['event'][] {
    const { declaration, states, decided } = this;
    const key = declaration.keyOf(command);
    const folded = found ? found.state : declaration.initial(key);
    const before = states.has(key) ? states.get(key) : folded;
    const decision = declaration.decide(command, before, context);
    if (!('events' in decision)) {
      this.#conclude(decision, { record, command, key });
      return [];
    }
    const { events } = decision;
    let after = before;
    for (const event of events) {
      after = declaration.evolve(after, event, null);
      decided.events.push(this.#recordOf(event, key, record));
    }
    states.set(key, after);
    decided.commands.push(...(declaration.commandsOf?.(command, after) ?? []));
    if ('commands' in decision) decided.commands.push(...(decision.commands ?? []));
    if (decision.outcome === 'done') {
      const result = decision.result ?? declaration.resultOf?.(command, after, context);
      this.#replies.push({ to: record, reply: doneWith(result) });
    } else if (decision.outcome === 'answered') {
      const { reply } = decision;
      this.#laterReplies.push(() => [record, ...this.waiting.take(key)].map((to): Reply => ({ to, reply })));
    }
    return events;
  }

  /** Concludes a command that changes nothing. */
  #conclude(
    decision: Exclude<AggregateDecision<Shape>, { events: unknown }>,
    { record, command, key }: { record: IncomingRecord; command: Shape['command']; key: string },
  ): void {
    switch (decision.outcome) {
      case 'rejected': {
        // A decision may carry more than its rejection, and a reply with more does not fit its schema.
        const { outcome, code, message, errors } = decision;
        this.#replies.push({ to: record, reply: { outcome, code, message, ...(errors && { errors }) } });
        break;
      }
      case 'postponed':
        this.decided.commands.push(this.#again(record, command, key));
        break;
      case 'awaited':
        this.#laterReplies.push(() => this.#wait(key, record));
    }
  }

  #wait(key: string, record: IncomingRecord): readonly Reply[] {
    this.waiting.add(key, record);
    return [];
  }

  #again(record: IncomingRecord, command: Shape['command'], key: string): OutgoingRecord {
    const { type, payload } = command;
    const caller = callerOf(record);
    const declaration: RecordDeclaration = this.declaration.commands[type as Shape['command']['type']];
    return outgoing(declaration, {
      key: this.declaration.recordKeyOf?.(command) ?? key,
      payload,
      ...(caller && { headers: callerHeaders(caller) }),
    });
  }

  #recordOf(event: Shape['event'], key: string, cause: IncomingRecord): OutgoingRecord {
    const headers = this.declaration.headersOf?.(event, cause);
    const { type, payload } = event;
    const declaration: RecordDeclaration = this.declaration.events[type as Shape['event']['type']];
    return outgoing(declaration, {
      key: this.declaration.recordKeyOf?.(event) ?? key,
      payload,
      ...(headers && { headers }),
    });
  }
}

function doneWith(result: JsonValue | undefined): Reply['reply'] {
  return { outcome: 'done', ...(result !== undefined && { result }) };
}

function commandOf<Shape extends AggregateShape>(
  declaration: AggregateDeclaration<Shape>,
  record: IncomingRecord,
): Shape['command'] {
  return declaration.commandFrom?.(record) ?? { type: record.type, payload: record.payload };
}

function eventOf<Shape extends AggregateShape>(
  declaration: AggregateDeclaration<Shape>,
  record: IncomingRecord,
): Shape['event'] {
  return declaration.eventFrom?.(record) ?? { type: record.type, payload: record.payload };
}
