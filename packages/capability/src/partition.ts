// The runtime: one partition of a service, made of the service's capabilities. Each record goes to the capabilities that name its
// type. Their decisions are joined to one decision, and one checkpoint covers all that they fold.
import type { records, TopicName } from '@lead-scoring/contracts';
import {
  BatchTooLarge,
  Turns,
  type Checkpoint,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type PartitionState,
  type Reply,
  type Touch,
} from '@lead-scoring/event-log';
import {
  createCheckpoints,
  deletePartition,
  type Checkpoints,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { Capability, CapabilityDecision, OpenCapability, PartitionScope } from './capability.js';
import type { FoldingState } from './folding-state.js';
import type { ServiceCapabilities } from './service.js';

/** Events that the capabilities fold in one piece. */
const foldedAtOnce = 500;
const positionsAcceptedType = 'PositionsAccepted';

/** Opens a service's capabilities for one partition. */
export function openServicePartition(
  service: ServiceCapabilities,
  readModel: ReadModel,
  partition: number,
): PartitionState & Required<Pick<FoldingState, 'written'>> {
  return new ServicePartition(service, readModel, partition);
}

class ServicePartition implements PartitionState {
  readonly #checkpoints: Checkpoints;
  readonly #opened = new Map<Pick<Capability, 'open'>, OpenCapability>();
  readonly #takers = new Map<string, OpenCapability[]>();
  readonly #folders = new Map<string, OpenCapability[]>();
  #eventsDecided = 0;
  /** The next offset after the last event that is folded. */
  #eventsEnd = 0n;
  /** In the order of the service's list. */
  readonly #listed: readonly OpenCapability[];

  constructor(
    private readonly service: ServiceCapabilities,
    private readonly readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#checkpoints = createCheckpoints(readModel);
    this.#listed = service.capabilities.map((capability) => {
      const opened = this.#open(capability);
      this.#route(capability, opened);
      return opened;
    });
  }

  #open(capability: Pick<Capability, 'open'>): OpenCapability {
    const known = this.#opened.get(capability);
    if (known) return known;
    const scope: PartitionScope = {
      partition: this.partition,
      readModel: this.readModel,
      eventsDecided: () => this.#eventsDecided,
      opened: <Opened extends OpenCapability>(other: { open(scope: PartitionScope): Opened }) =>
        this.#open(other) as Opened,
    };
    const opened = capability.open(scope);
    this.#opened.set(capability, opened);
    return opened;
  }

  #route({ commands, reads, events }: Capability, opened: OpenCapability): void {
    const add = (routes: Map<string, OpenCapability[]>, topic: string, type: string) => {
      const name = routeOf({ topic, type });
      routes.set(name, [...(routes.get(name) ?? []), opened]);
    };
    for (const type of Object.keys(commands)) add(this.#takers, this.#commandTopic, type);
    for (const [topic, types] of Object.entries(reads))
      for (const [type, use] of Object.entries(types)) if (use === 'taken') add(this.#takers, topic, type);
    if (opened.fold)
      for (const type of Object.keys(events)) add(this.#folders, `${this.service.name}.events`, type);
  }

  async checkpoint(): Promise<Checkpoint> {
    const checkpoint = await this.#checkpoints.load(this.service.name, this.partition);
    this.#eventsEnd = checkpoint.positions[this.#ownTopic] ?? 0n;
    for (const opened of this.#opened.values()) opened.resume?.(checkpoint);
    return checkpoint;
  }

  async decide(incoming: IncomingRecord[]): Promise<Decision> {
    const decisions: Decision[] = [];
    for (const { topic } of incoming) if (topic !== this.#commandTopic) this.#eventsDecided += 1;
    const parts = divided(incoming, this.#takers);
    for (const opened of this.#listed) {
      const taken = parts.get(opened);
      if (!taken) continue;
      if (!opened.decide) throw new Error('a capability that decides nothing takes records');
      decisions.push(notSplit(await opened.decide(taken, incoming)));
    }
    return joined(decisions);
  }

  async fold(events: FoldedRecord[]): Promise<void> {
    try {
      let from = 0;
      for (const [index, record] of events.entries()) {
        if (record.type !== positionsAcceptedType) continue;
        await this.#foldAll(events.slice(from, index));
        await this.#positionsAccepted(record.payload as records.PositionsAccepted);
        from = index + 1;
      }
      await this.#foldAll(from === 0 ? events : events.slice(from));
      const last = events.at(-1);
      if (last && last.offset >= this.#eventsEnd) this.#eventsEnd = last.offset + 1n;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** Folds `foldedAtOnce` events at a time: the new scores of many leads may be one batch, and requests are answered in between. */
  async #foldAll(events: readonly FoldedRecord[]): Promise<void> {
    const turns = new Turns();
    for (let from = 0; from < events.length; from += foldedAtOnce) {
      await this.#foldSome(
        from === 0 && events.length <= foldedAtOnce ? events : events.slice(from, from + foldedAtOnce),
      );
      await turns.giveWay();
    }
  }

  async #foldSome(events: readonly FoldedRecord[]): Promise<void> {
    const parts = divided(events, this.#folders);
    for (const opened of this.#listed) {
      const own = parts.get(opened);
      if (own) await opened.fold?.(own);
    }
  }

  async #positionsAccepted({ inputs }: records.PositionsAccepted): Promise<void> {
    const positions = new Map(inputs.map(({ topic, position }) => [topic as TopicName, position]));
    for (const opened of this.#opened.values()) await opened.positionsAccepted?.(positions);
  }

  async store(checkpoint: Checkpoint, awaited: AbortSignal): Promise<void> {
    // As of this call: the next events are folded meanwhile.
    const stored = this.#withEventsEnd(checkpoint);
    await Promise.all([...this.#opened.values()].map((opened) => Promise.resolve(opened.write?.(awaited))));
    await this.#checkpoints.store(this.service.name, this.partition, this.#withUnwritten(stored));
  }

  async written(): Promise<void> {
    const atOnce = AbortSignal.abort();
    await Promise.all([...this.#opened.values()].map((opened) => Promise.resolve(opened.write?.(atOnce))));
  }

  /** The checkpoint's own offset may lie beyond the end of a transaction, where no event ever comes. */
  #withEventsEnd(checkpoint: Checkpoint): Checkpoint {
    if (!this.service.storesEventsEnd) return checkpoint;
    const { offset, positions } = checkpoint;
    return { offset, positions: { ...positions, [this.#ownTopic]: this.#eventsEnd } };
  }

  /**
   * Moves the offset back to the first event that a capability has not written: the next owner folds again from there. Capabilities
   * that have written these events do not change their documents.
   */
  #withUnwritten({ offset, positions }: Checkpoint): Checkpoint {
    const from = this.#unwrittenFrom();
    return { offset: from !== null && from < offset ? from : offset, positions };
  }

  hasUnwritten(): boolean {
    return this.#unwrittenFrom() !== null;
  }

  #unwrittenFrom(): bigint | null {
    let least: bigint | null = null;
    for (const opened of this.#listed) {
      const from = opened.unwrittenFrom?.() ?? null;
      if (from !== null && (least === null || from < least)) least = from;
    }
    return least;
  }

  get #ownTopic(): TopicName {
    return `${this.service.name}.events`;
  }

  get #commandTopic(): TopicName {
    return `${this.service.name}.commands`;
  }

  async caughtUp(): Promise<void> {
    for (const opened of this.#opened.values()) await opened.caughtUp?.();
  }

  async reset(touch: Touch): Promise<void> {
    for (const opened of this.#opened.values()) await opened.beforeReset?.(touch);
    await this.#checkpoints.reset(this.service.name, this.partition);
    for (const { collections } of this.service.capabilities)
      for (const collection of collections)
        await deletePartition(this.readModel, collection, this.partition, touch);
    this.#eventsEnd = 0n;
    this.#forget();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map((opened) => Promise.resolve(opened.close?.())));
  }

  #forget(): void {
    for (const opened of this.#opened.values()) opened.forget?.();
  }
}

function routeOf({ topic, type }: { topic: string; type: string }): string {
  return `${topic} ${type}`;
}

/** The records of each capability, in their order; most batches are of one capability. */
function divided<Incoming extends IncomingRecord>(
  incoming: readonly Incoming[],
  routes: ReadonlyMap<string, readonly OpenCapability[]>,
): Map<OpenCapability, Incoming[]> {
  const parts = new Map<OpenCapability, Incoming[]>();
  let before: Incoming | undefined;
  let takers: readonly OpenCapability[] = [];
  for (const record of incoming) {
    // Most records are of the type of the one before them.
    if (record.type !== before?.type || record.topic !== before.topic)
      takers = routes.get(routeOf(record)) ?? [];
    before = record;
    for (const opened of takers) {
      const part = parts.get(opened);
      if (part) part.push(record);
      else parts.set(opened, [record]);
    }
  }
  return parts;
}

function notSplit(decision: CapabilityDecision): Decision {
  if (decision.outcome === 'split') throw new BatchTooLarge(decision.reason);
  return decision;
}

function joined(decisions: readonly Decision[]): Decision {
  const [first, ...others] = decisions;
  if (!first) return { events: [] };
  if (others.length === 0) return first;
  return {
    events: decisions.flatMap(({ events }) => events),
    commands: decisions.flatMap(({ commands = [] }) => commands),
    deadLetters: decisions.flatMap(({ deadLetters = [] }) => deadLetters),
    isRepeat: decisions.every(
      ({ events, commands = [], isRepeat = false }) => isRepeat || events.length + commands.length === 0,
    ),
    replies: async () => (await Promise.all(decisions.map(repliesOf))).flat(),
  };
}

async function repliesOf({ replies = [] }: Decision): Promise<readonly Reply[]> {
  return typeof replies === 'function' ? replies() : replies;
}
