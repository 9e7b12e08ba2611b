// The memory of a process for an import, between two steps: the rows that were turned into events, and the leads that exist already.
// Another process, or this one after a minute without a step, reads both again.
import { bytesOf, createBoundedCache, UuidSet, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { eventRecords } from '../events/documents.js';
import { leadBytesOf } from '../events/keys.js';
import type { ImportedRow, ImportedRows } from './row-events.js';

const maximumImports = 4;
const keptMs = 60_000;
/** The most stored leads that are remembered for one import, in 32 MB. */
const maximumLeads = 1_000_000;
/** The stored records that are read in the time in which one lead is looked up. */
const recordsPerLookUp = 60;
/** How far above the real number of records the database's estimate may be. */
const estimateTolerance = 1.1;
/** Few enough that the process answers other requests in between. */
const recordsInAnswer = 2_000;

/** The memories of the imports of a process, by job. */
export function createImportMemories(): (jobId: string) => ImportMemory {
  const memories = createBoundedCache<ImportMemory>({ maximumEntries: maximumImports, keptMs });
  return (jobId) => {
    const memory = memories.get(jobId) ?? new ImportMemory();
    memories.set(jobId, memory);
    return memory;
  };
}

export class ImportMemory {
  readonly #chunks = new Map<number, ImportedRows>();
  #leads: LeadsThere | null | undefined;
  /** The chunk for which the leads were asked last. */
  #reached = 0;

  /** The rows of a chunk, which is converted once; null: `convert` has returned null. Forgets chunks more than two before this one. */
  async rowsOf(chunk: number, convert: () => Promise<ImportedRows | null>): Promise<ImportedRows | null> {
    const rows = this.#chunks.get(chunk) ?? (await convert());
    if (rows) this.#chunks.set(chunk, rows);
    for (const other of this.#chunks.keys()) if (other < chunk - 2) this.#chunks.delete(other);
    return rows;
  }

  /**
   * The leads that had events at the first call, and those of this import. The first call reads all stored leads, because that costs
   * less than a look-up for each row, up to a maximum number of stored records and leads.
   * @param chunk that is imported; the caller adds the leads of the one before. Where another process has imported chunks in between,
   *   the leads are read again
   * @param rows that are still to be imported
   * @returns null where the store has more, so that each lead has to be looked up
   */
  async leads(
    readModel: ReadModel,
    { chunk, rows, signal }: { chunk: number; rows: number; signal: AbortSignal },
  ): Promise<LeadsThere | null> {
    if (chunk > this.#reached + 1) this.#leads = undefined;
    this.#reached = chunk;
    if (this.#leads === undefined) this.#leads = await readLeads(readModel, rows * recordsPerLookUp, signal);
    return this.#leads;
  }
}

/** The leads that are there, as an import knows them. */
export class LeadsThere {
  readonly #imported = new UuidSet();

  /** @param stored the leads that had events when they were read */
  constructor(private readonly stored: UuidSet) {}

  /** Adds the leads of rows whose events are recorded. */
  addImported(rows: readonly ImportedRow[]): void {
    for (const { events } of rows) this.#imported.add(bytesOf(uuidToBinary(events[0].lead_id)), 0);
  }

  /** Whether an earlier row of this import was of the lead. */
  isImported(leadId: string): boolean {
    return this.#imported.has(bytesOf(uuidToBinary(leadId)), 0);
  }

  isStored(leadId: string): boolean {
    return this.stored.has(bytesOf(uuidToBinary(leadId)), 0);
  }
}

/** null: there are more records, or too many leads. */
async function readLeads(
  readModel: ReadModel,
  maximumRecords: number,
  signal: AbortSignal,
): Promise<LeadsThere | null> {
  const collection = readModel.collection(eventRecords);
  // A store that has clearly more is not read in vain.
  if ((await collection.estimatedDocumentCount()) > maximumRecords * estimateTolerance) return null;
  const stored = new UuidSet();
  let records = 0;
  const found = collection.find(
    {},
    { projection: { _id: 1 }, batchSize: recordsInAnswer, limit: maximumRecords + 1 },
  );
  for await (const { _id } of found) {
    signal.throwIfAborted();
    records += 1;
    stored.add(leadBytesOf(_id), 0);
    if (records > maximumRecords || stored.size > maximumLeads) return null;
  }
  return new LeadsThere(stored);
}
