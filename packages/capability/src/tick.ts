// A tick: time that passes, as commands on the log. The owner of a partition looks into an index of what is due, and sends the
// service a command about it that carries the time as `as_of`; deciders take time from there alone. The next command is sent when
// the one before is decided and folded, so that other work comes in between and the index is level.
import pLimit from 'p-limit';
import { pause, type IncomingRecord, type OutgoingRecord, type RecordWriter } from '@lead-scoring/event-log';
import {
  whenFolded,
  type Capability,
  type CapabilityDecision,
  type OpenCapability,
  type PartitionedCollection,
  type PartitionScope,
  type RecordTable,
} from './capability.js';

/** A tick in one partition. */
export interface OpenTick extends Pick<OpenCapability, 'write' | 'forget' | 'beforeReset' | 'close'> {
  /**
   * Decides on commands of what is due, and on other commands of the capability. A command may come twice, and name what is
   * not due any more: it is then passed over.
   */
  decide(records: readonly IncomingRecord[], batch: readonly IncomingRecord[]): Promise<CapabilityDecision>;
  /**
   * Returns commands about the keys that are due at a moment; none where no key is due. The number of commands and the keys of each are
   * bounded. The clock sends one command after the other. This is called while the partition decides and folds. The index that it reads
   * may contain keys that are not due yet, and must contain all that are due.
   * @param options.besideEvents whether the partition has decided on events since the last look: these wait while a command is worked off
   */
  due(asOf: string, options: { besideEvents: boolean }): Promise<readonly OutgoingRecord[]>;
}

export interface TickDeclaration<Command extends string, Event extends string> {
  readonly name: string;
  readonly commands: RecordTable<Command>;
  readonly events: RecordTable<Event>;
  readonly collections: readonly PartitionedCollection[];
  /** Sends the commands to the service's own topic. */
  readonly writer: Pick<RecordWriter, 'write'>;
  readonly now: () => Date;
  /** Milliseconds between two looks while nothing is due. Default 1,000. */
  readonly lookEveryMs?: number | undefined;
  /** Milliseconds by which `as_of` is behind the clock, so that events from before `as_of` are decided first. Default 5,000. */
  readonly settleMs?: number | undefined;
  /** Gets the error of a look that has failed; the next look comes after a pause. */
  readonly onError: (error: unknown) => void;
  open(scope: PartitionScope): OpenTick;
}

const defaultLookEveryMs = 1_000;
const defaultSettleMs = 5_000;
/** A command that is not decided by then is sent again: deciding it twice changes nothing. */
const repeatAfterMs = 60_000;
/**
 * The pause after a command, as a multiple of the time that the command took: it leaves the processor to other work. The pause is
 * longer (`besideEvents`) where the partition has decided on events of other services meanwhile, so that these go first.
 */
const rest = { alone: 0.5, besideEvents: 8 };

/** Declares a tick. */
export function tick<const Command extends string, const Event extends string>(
  declaration: TickDeclaration<Command, Event>,
): Capability<Command, Event> {
  const { name, commands, events, collections } = declaration;
  const inTurn = pLimit(1);
  return {
    name,
    kind: 'tick',
    commands,
    reads: {},
    events,
    collections,
    open: (scope) => new TickClock(declaration, scope, declaration.open(scope), inTurn),
  };
}

class TickClock implements OpenCapability {
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  /** Offset of the last command of the capability that is decided and folded. */
  #done = -1n;
  /** Whether the last command came to events or commands: more may be due. */
  #hasMoved = false;
  #wake: (() => void) | null = null;
  /** How many events the partition had decided on at the last look. */
  #eventsDecided = 0;

  constructor(
    private readonly declaration: Pick<
      TickDeclaration<string, string>,
      'writer' | 'now' | 'lookEveryMs' | 'settleMs' | 'onError'
    >,
    private readonly scope: Pick<PartitionScope, 'eventsDecided'>,
    private readonly opened: OpenTick,
    /** One command at a time in the process, whatever the number of its partitions: events are decided between the commands. */
    private readonly inTurn: (send: () => Promise<boolean>) => Promise<boolean>,
  ) {}

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const decision = await this.opened.decide(incoming, batch);
    if (decision.outcome !== 'decided') return decision;
    const { events, commands = [] } = decision;
    const last = incoming.at(-1)?.offset ?? -1n;
    return whenFolded(decision, () => {
      if (last > this.#done) this.#done = last;
      this.#hasMoved = events.length + commands.length > 0;
      this.#wake?.();
    });
  }

  /** Nothing is due as long as an earlier owner's decisions are not folded. */
  caughtUp(): Promise<void> {
    this.#running ??= this.#run();
    return Promise.resolve();
  }

  async #run(): Promise<void> {
    const { lookEveryMs = defaultLookEveryMs, onError } = this.declaration;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let hasMore = false;
      try {
        hasMore = await this.#look();
      } catch (error) {
        if (!this.#isClosing()) onError(error);
      }
      if (!hasMore) await pause(lookEveryMs, signal);
    }
  }

  /** @returns whether something was decided, so that more may be due */
  async #look(): Promise<boolean> {
    const { now, settleMs = defaultSettleMs } = this.declaration;
    const eventsDecided = this.scope.eventsDecided();
    const besideEvents = eventsDecided > this.#eventsDecided;
    this.#eventsDecided = eventsDecided;
    const asOf = new Date(now().getTime() - settleMs).toISOString();
    const commands = await this.opened.due(asOf, { besideEvents });
    let hasMoved = false;
    for (const command of commands) if (await this.inTurn(() => this.#send(command))) hasMoved = true;
    return hasMoved;
  }

  /** Sends a command, waits until it is decided and folded, and rests. @returns whether it came to events or commands */
  async #send(command: OutgoingRecord): Promise<boolean> {
    if (this.#isClosing()) return false;
    this.#hasMoved = false;
    const begun = performance.now();
    const eventsBefore = this.scope.eventsDecided();
    const [position] = await this.declaration.writer.write([command]);
    const isDone = position !== undefined && (await this.#isDone(position.offset));
    const workedMs = performance.now() - begun;
    await pause(rest.alone * workedMs, this.#closing.signal);
    if (this.scope.eventsDecided() > eventsBefore)
      await pause((rest.besideEvents - rest.alone) * workedMs, this.#closing.signal);
    return isDone && this.#hasMoved;
  }

  /** Resolves when a command is decided and folded: true; or when it takes too long, or the partition is closed: false. */
  async #isDone(offset: bigint): Promise<boolean> {
    const waiting = new AbortController();
    const wake = () => {
      if (this.#done >= offset) waiting.abort();
    };
    const close = () => {
      waiting.abort();
    };
    this.#closing.signal.addEventListener('abort', close, { once: true });
    this.#wake = wake;
    wake();
    if (this.#isClosing()) close();
    await pause(repeatAfterMs, waiting.signal);
    this.#closing.signal.removeEventListener('abort', close);
    this.#wake = null;
    return this.#done >= offset;
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async write(awaited: AbortSignal): Promise<void> {
    await this.opened.write?.(awaited);
  }

  forget(): void {
    this.opened.forget?.();
  }

  async beforeReset(touch: () => void): Promise<void> {
    await this.opened.beforeReset?.(touch);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.opened.close?.();
  }
}
