// The job of an import of leads. Each step takes a chunk of the rows of an uploaded table, and sends the events that they give as those of
// POST /import are sent: intake drops repeats, links aliases, and takes fields from the metadata.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { chunksOf, jobIdOf, records, type JsonValue, type LeadImportMapping } from '@lead-scoring/contracts';
import { outgoing, pause, type EventLog, type OutgoingRecord } from '@lead-scoring/event-log';
import { noRows } from '../jobs/row-counts.js';
import { previewOf, type FailedRow, type LeadFileDocument } from './documents.js';
import { LeadFileStore } from './file-store.js';
import { createImportMemories, type ImportMemory } from './import-memory.js';
import { RowLookUps, type LeadNow } from './look-ups.js';
import {
  fieldsTwice,
  importDigest,
  rowImporter,
  unknownColumns,
  type ImportedRow,
  type ImportedRows,
} from './row-events.js';

type Work = records.LeadImportWork;
type LeadImport = Job<Work>;

export interface LeadImportOptions {
  readonly log: () => Pick<EventLog, 'partitionOf'>;
  readonly now: () => Date;
}

/** Milliseconds that a step waits at most for the rows of the chunk two before its own; the last step, for those of the last chunk. */
const patienceMs = 10_000;
const lookEveryMs = 50;
/** The cursor when all rows are in, and the table is still stored. */
const atEnd = 'end';

export function leadImport(options: LeadImportOptions): JobKind<typeof records.startLeadImport, Work> {
  const memoryOf = createImportMemories();
  return {
    name: 'lead-import',
    command: records.startLeadImport,
    isBesideLog: true,
    begin: async ({ ou_id, file_id, mapping }, { readModel }) => {
      const file = await new LeadFileStore(readModel, options.now).file(ou_id, file_id);
      if (!file) return fileNotFound;
      const { headers, row_count } = previewOf(file);
      const refused = mappingProblem(mapping, headers);
      if (refused) return refused;
      const digest = importDigest(file.digest, mapping);
      return { work: { kind: 'lead-import', file_id, digest, mapping, headers }, total: row_count };
    },
    step: (job, scope, signal) => new ImportStep(job, scope, options, memoryOf(job.job_id)).take(signal),
    joined: ({ found }, more) => {
      const before = (found as unknown as records.LeadImportFound | undefined) ?? noRows;
      const { created, updated, skipped } = more as unknown as records.LeadImportFound;
      return {
        created: before.created + created,
        updated: before.updated + updated,
        skipped: before.skipped + skipped,
      };
    },
    startedResult: ({ job_id }) => ({ job_id: jobIdOf('ingest', job_id) }),
  };
}

const fileNotFound: Rejection = {
  outcome: 'rejected',
  code: 'lead_file_not_found',
  message:
    'There is no uploaded table with this file_id: it was imported, or its day is over. Upload it again with POST /leads/import/preview.',
};

/** null: the mapping fits the table. */
function mappingProblem(mapping: LeadImportMapping, headers: readonly string[]): Rejection | null {
  const unknown = unknownColumns(mapping, headers).map((column) => ({
    path: 'body',
    message: `names the column ${column}, which the table does not have`,
  }));
  const twice = fieldsTwice(mapping).map((field) => ({
    path: 'body.field_mappings',
    message: `gives the field ${field} to two columns`,
  }));
  const errors = [...unknown, ...twice].slice(0, 20);
  const [first] = errors;
  if (!first) return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `The mapping ${first.message}. Its columns are: ${headers.join(', ').slice(0, 2_000)}.`,
    errors,
  };
}

class ImportStep {
  readonly #store: LeadFileStore;
  readonly #lookUps: RowLookUps;

  constructor(
    private readonly job: LeadImport,
    private readonly scope: PartitionScope,
    private readonly options: LeadImportOptions,
    private readonly memory: ImportMemory,
  ) {
    this.#store = new LeadFileStore(scope.readModel, options.now);
    this.#lookUps = new RowLookUps(scope.readModel, job.ou_id);
  }

  async take(signal: AbortSignal): Promise<JobStep> {
    const { ou_id, work, cursor } = this.job;
    const file = await this.#store.file(ou_id, work.file_id);
    if (cursor === atEnd) return this.#end(file);
    if (!file) return fileGone;
    await this.#store.keep(file);
    const chunk = Number(cursor ?? 0);
    const rowsOf = rowImporter(work.mapping, work.headers, {
      ouId: ou_id,
      at: this.job.started_at,
      digest: work.digest,
    });
    const importedOf = (one: number) =>
      this.memory.rowsOf(one, async () => {
        const rows = one < 0 ? null : await this.#store.rows(file.upload, one);
        return rows && rowsOf(rows);
      });
    const isLast = chunk >= file.chunks;
    const before = (await importedOf(chunk - 1))?.imported ?? [];
    await this.#untilIn(isLast ? before : ((await importedOf(chunk - 2))?.imported ?? []), signal);
    if (isLast) return advanced(atEnd, { done: 0, failed: [], counts: noRows, commands: [] });
    const rows = await importedOf(chunk);
    return rows ? this.#import(chunk, rows, before, signal) : fileGone;
  }

  /** The table is dropped once the log says that all rows are in: a step that is taken again finds nothing to drop. */
  async #end(file: LeadFileDocument | null): Promise<JobStep> {
    if (file) await this.#store.dropFile(file);
    return advanced(null, { done: 0, failed: [], counts: noRows, commands: [] });
  }

  /** @param before the rows of the chunk before, whose events may be on their way */
  async #import(
    chunk: number,
    { imported, failed }: ImportedRows,
    before: readonly ImportedRow[],
    signal: AbortSignal,
  ): Promise<JobStep> {
    const { job_id } = this.job;
    if (failed.length > 0) await this.#store.putFailedRows(job_id, chunk, failed);
    const events = imported.flatMap((row) => row.events);
    const now = await this.#lookUps.now(events.map(({ lead_id }) => lead_id));
    const known = await this.#lookUps.known(events, now);
    const taken = imported.filter((row) => !row.events.every(({ id }) => known.has(id)));
    const present = await this.#present(taken, { chunk, before, now, signal });
    let created = 0;
    for (const { events: of } of taken) {
      const lead = of[0].lead_id;
      if (present.has(lead)) continue;
      // A later row of the same lead updates what this one makes.
      present.add(lead);
      created += 1;
    }
    return advanced(String(chunk + 1), {
      done: imported.length + failed.length,
      failed,
      counts: {
        created,
        updated: taken.length - created,
        skipped: imported.length - taken.length,
      },
      commands: this.#commandsOf(taken),
    });
  }

  /** The leads of rows that are there already. @param before the rows of the chunk before, whose events may be on their way */
  async #present(
    rows: readonly ImportedRow[],
    {
      chunk,
      before,
      now,
      signal,
    }: { chunk: number; before: readonly ImportedRow[]; now: LeadNow; signal: AbortSignal },
  ): Promise<Set<string>> {
    const { total, done } = this.job;
    const left = (total ?? 0) - done;
    const leads = new Set(rows.map(({ events: [first] }) => first.lead_id));
    const there = await this.memory.leads(this.scope.readModel, { chunk, rows: left, signal });
    if (there) {
      there.addImported(before);
      return new Set([...leads].filter((lead) => there.isImported(lead) || there.isStored(now(lead))));
    }
    const sure = new Set(before.map(({ events: [first] }) => first.lead_id));
    const present = await this.#lookUps.present(
      [...leads].filter((lead) => !sure.has(lead)),
      now,
    );
    return new Set([...sure, ...present]);
  }

  #commandsOf(rows: readonly ImportedRow[]): OutgoingRecord[] {
    const { ou_id, job_id, started_at, actor } = this.job;
    const events = rows.flatMap((row) => row.events);
    const batch = {
      ouId: ou_id,
      batchId: job_id,
      source: 'import' as const,
      fireTriggers: false,
      receivedAt: started_at,
      sentBy: actor && `${actor.kind}:${actor.id}`,
      events,
      estimatedBytes: JSON.stringify(events).length * 3,
    };
    const partitionOf = (key: string) => this.options.log().partitionOf(key);
    return chunksOf(batch, partitionOf).map(({ key, partition, payload }) =>
      // The events come from validateEvents, and ingest checks the record again.
      outgoing(records.ingestEvents, { key, partition, payload, isChecked: true }),
    );
  }

  /**
   * Waits until the events of some rows are stored, so that rows of the same lead are counted right, and a large table does not fill
   * the log ahead of live events. An event that became a dead letter never comes; so the wait ends by itself.
   */
  async #untilIn(rows: readonly ImportedRow[], signal: AbortSignal): Promise<void> {
    const events = rows.flatMap((row) => row.events);
    // The events of a partition are stored in their order, so those before the last one of each are in with it.
    const lastOf = new Map(events.map((event) => [this.options.log().partitionOf(event.lead_id), event]));
    let missing = [...lastOf.values()];
    const until = Date.now() + patienceMs;
    while (missing.length > 0 && Date.now() < until) {
      const known = await this.#lookUps.known(
        missing,
        await this.#lookUps.now(missing.map(({ lead_id }) => lead_id)),
      );
      missing = missing.filter(({ id }) => !known.has(id));
      if (missing.length > 0) await pause(lookEveryMs, signal);
      signal.throwIfAborted();
    }
  }
}

const fileGone: JobStep = {
  outcome: 'failed',
  error: {
    code: 'lead_file_not_found',
    message:
      'The uploaded table is not here any more: another import of it has ended, or its day is over. The rows so far are in. Upload it again with POST /leads/import/preview: with the same mapping, they are skipped.',
  },
};

function advanced(
  cursor: string | null,
  {
    done,
    failed,
    counts,
    commands,
  }: {
    done: number;
    failed: readonly FailedRow[];
    counts: records.LeadImportFound;
    commands: readonly OutgoingRecord[];
  },
): JobStep {
  return {
    outcome: 'advanced',
    cursor,
    done,
    failed: failed.length,
    errors: failed
      .slice(0, records.maximumJobErrors)
      .map(({ row, code, message }) => ({ row, code, message })),
    found: { ...counts } satisfies JsonValue,
    commands,
  };
}
