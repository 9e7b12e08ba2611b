// Takes records of a source into the log: decodes and maps them, checks them as POST /ingest checks events, and writes them in chunks. A
// record that cannot become an event becomes a dead letter.
import { randomUUID } from 'node:crypto';
import { routeDeclarations, validateEvents, type RejectedEvent } from '@lead-scoring/contracts';
import type {
  SourceBatch,
  SourceDecoder,
  SourceLetter,
  SourceMetrics,
  SourceRecord,
  SourceWriter,
  WriteAhead,
} from '@lead-scoring/event-log';
import type { Caller } from '../credentials/authenticate.js';
import { chunkRecords } from '../intake/chunks.js';
import { mapRecord, type Mapped, type MappedRecord } from './mapping-model.js';
import { recordIds } from './record-ids.js';
import { SourceRefused, type SourceCredential } from './source-credential.js';
import type { SourceFile } from './source-file.js';

export interface SourceIntakeDependencies {
  file: SourceFile;
  decoders: { value: SourceDecoder; key: SourceDecoder };
  credential: SourceCredential;
  writer: SourceWriter;
  ahead: WriteAhead;
  metrics: SourceMetrics;
  partitionOf: (key: string) => number;
}

/** A record and where it is. */
interface Placed {
  partition: number;
  record: SourceRecord;
}

/** A record that has become an event of a unit, before its checks. */
interface UnitEvent extends Placed {
  sent: Record<string, unknown>;
}

const { intakeLimits } = routeDeclarations;
/** As many events are checked together as may link aliases without a limit that is meant for requests. */
const eventsPerPart = Math.floor(intakeLimits.links / (intakeLimits.aliases - 1));
/** Bytes of records that become the chunks of one batch: below the largest chunk, so that none is divided. */
const bytesPerPart = 700_000;
const writesAtATime = 12;
/** What an event grows by when it becomes one of the log: its ids. */
const grownBytes = 200;

export class SourceIntake {
  readonly #idOf: ReturnType<typeof recordIds>;

  constructor(private readonly dependencies: SourceIntakeDependencies) {
    const { file } = dependencies;
    this.#idOf = recordIds(file.name, file.topic);
  }

  /**
   * Resolves once the log has every event and every dead letter.
   * @throws SourceRefused, or an error of the log
   */
  async take(batches: readonly SourceBatch[], signal: AbortSignal): Promise<void> {
    const { credential, decoders, ahead, writer, metrics, file } = this.dependencies;
    await ahead.untilRoom(signal);
    signal.throwIfAborted();
    const caller = await credential.caller();
    const all = batches.flatMap(({ records }) => records);
    await decoders.value.prepare(all.map(({ value }) => value));
    await decoders.key.prepare(all.map(({ key }) => key));
    const letters: SourceLetter[] = [];
    const park = ({ partition, record }: Placed, reason: string) =>
      letters.push({ service: 'gateway', source: file.name, topic: file.topic, partition, record, reason });
    const units = new UnitsOfBatch(this.dependencies, caller);
    const writes = new WritesInFlight();
    let full = 0;
    for (const part of partsOf(batches)) {
      full += part.length;
      for (const [ouId, events] of await this.#byUnit(units, part, park))
        await writes.add(this.#write(caller, ouId, events, park));
    }
    await writes.settle();
    await writer.park(letters.sort(byPlace));
    metrics.records('taken', full - letters.length);
    metrics.records('dead_letter', letters.length);
    metrics.records('empty', all.length - full);
  }

  /** The records as events, by organizational unit and in order. */
  async #byUnit(
    units: UnitsOfBatch,
    placed: readonly Placed[],
    park: (one: Placed, reason: string) => void,
  ): Promise<Map<string, UnitEvent[]>> {
    const byUnit = new Map<string, UnitEvent[]>();
    for (const one of placed) {
      const mapped = this.#mapped(one);
      if ('problem' in mapped) {
        park(one, mapped.problem);
        continue;
      }
      const unit = units.known(mapped.ouId) ?? (await units.find(mapped.ouId));
      if ('problem' in unit) {
        park(one, unit.problem);
        continue;
      }
      const event = { ...one, sent: mapped.sent };
      const events = byUnit.get(unit.ouId);
      if (events) events.push(event);
      else byUnit.set(unit.ouId, [event]);
    }
    return byUnit;
  }

  #mapped({ partition, record }: Placed): Mapped | { problem: string } {
    const { decoders, file } = this.dependencies;
    const { value: bytes, key, headers, timestamp, offset } = record;
    if (bytes === null) return { problem: 'the record has no value' };
    const value = decoders.value.decode(bytes);
    if ('problem' in value) return { problem: `the value ${value.problem}` };
    const mappedRecord: MappedRecord = {
      value: value.value,
      key: () => (key === null ? { value: undefined } : decoders.key.decode(key)),
      header: (name) => headerIn(headers, name),
      timestamp,
      id: this.#idOf(partition, offset, timestamp),
    };
    return mapRecord(file.event, mappedRecord);
  }

  async #write(
    caller: Caller,
    ouId: string,
    events: readonly UnitEvent[],
    park: (one: Placed, reason: string) => void,
  ): Promise<void> {
    const { writer, ahead } = this.dependencies;
    const chunks = this.#chunks(caller, ouId, events, park);
    const positions = await writer.write(chunks);
    for (const [index, position] of positions.entries())
      ahead.wrote(position, chunks[index]?.payload.events.length ?? 0);
  }

  #chunks(
    { actor }: Caller,
    ouId: string,
    part: readonly UnitEvent[],
    park: (one: Placed, reason: string) => void,
  ) {
    const receivedAt = new Date().toISOString();
    const batchId = randomUUID();
    const { events, rejected } = validateEvents(part, { ouId, receivedAt, repeatableBatchId: null });
    for (const one of rejected) {
      const refused = part[one.index];
      if (refused) park(refused, reasonOf(one));
    }
    return chunkRecords(
      {
        ouId,
        batchId,
        source: 'ingest',
        fireTriggers: this.dependencies.file.fire_triggers,
        receivedAt,
        events,
        estimatedBytes: part.reduce((sum, event) => sum + bytesOf(event), 0),
        headers: { id: batchId, ou: ouId, actor, 'correlation-id': batchId },
      },
      this.dependencies.partitionOf,
    );
  }
}

/** The units that the records of one batch name, each looked up once. */
class UnitsOfBatch {
  readonly #known = new Map<string | undefined, { ouId: string } | { problem: string }>();
  readonly #isFixed: boolean;

  constructor(
    private readonly dependencies: Pick<SourceIntakeDependencies, 'credential' | 'file'>,
    private readonly caller: Caller,
  ) {
    const { ou_id } = dependencies.file.event;
    this.#isFixed = ou_id !== undefined && 'fixed' in ou_id;
  }

  known(named: string | undefined): { ouId: string } | { problem: string } | undefined {
    return this.#known.get(named);
  }

  /** @throws SourceRefused where the unit is not the record's, but the source's */
  async find(named: string | undefined): Promise<{ ouId: string } | { problem: string }> {
    const { credential } = this.dependencies;
    const found =
      named === undefined
        ? { ouId: await credential.unit(this.caller) }
        : await credential.unitNamed(this.caller, named);
    if ('problem' in found && this.#isFixed) throw new SourceRefused(found.problem);
    this.#known.set(named, found);
    return found;
  }
}

/** Bounds the writes at a time: the writer refuses more bytes than it has room for. */
class WritesInFlight {
  readonly #writes: Promise<void>[] = [];

  /** @throws the error of an earlier write */
  async add(write: Promise<void>): Promise<void> {
    // Whoever waits for it gets the error.
    write.catch(() => undefined);
    this.#writes.push(write);
    if (this.#writes.length > writesAtATime) await this.#writes.shift();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#writes);
  }
}

/**
 * The records with a value in parts that are checked and written together: what is made of a part is garbage before the next one is
 * decoded, which spares the collector more than anything else here costs.
 */
function* partsOf(batches: readonly SourceBatch[]): Generator<Placed[]> {
  let part: Placed[] = [];
  let bytes = 0;
  for (const { partition, records } of batches)
    for (const record of records) {
      if (record.value === null) continue;
      const own = record.value.length + grownBytes;
      if (part.length > 0 && (part.length >= eventsPerPart || bytes + own > bytesPerPart)) {
        yield part;
        part = [];
        bytes = 0;
      }
      part.push({ partition, record });
      bytes += own;
    }
  if (part.length > 0) yield part;
}

/** Dead letters are listed in the order of the topic, whichever check has found them. */
function byPlace(a: SourceLetter, b: SourceLetter): number {
  return a.partition - b.partition || Number(a.record.offset - b.record.offset);
}

function bytesOf({ record }: UnitEvent): number {
  return (record.value?.length ?? 0) + grownBytes;
}

function reasonOf({ errors }: RejectedEvent): string {
  return errors.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)).join('; ');
}

function headerIn(headers: SourceRecord['headers'], name: string): string | undefined {
  if (!Object.hasOwn(headers, name)) return undefined;
  const held = headers[name];
  const first = Array.isArray(held) ? held[0] : held;
  return first?.toString();
}
