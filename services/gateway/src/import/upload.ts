// Takes one upload of historical events into the log, part by part, and tells its job of each.
import { createHash, type Hash } from 'node:crypto';
import {
  encodePosition,
  jobIdOf,
  records,
  validateEvents,
  type RejectedEvent,
} from '@lead-scoring/contracts';
import type { RecordWriter } from '@lead-scoring/event-log';
import { ProblemError } from '@lead-scoring/service';
import { asLogProblem } from '../edge/log-problem.js';
import { chunkRecords } from '../intake/chunks.js';
import { reach } from '../intake/handler.js';
import { problem } from '../problem.js';
import type { ImportJob } from './job.js';
import type { SentRow } from './rows.js';

export interface ImportUpload {
  jobId: string;
  ouId: string;
  fireTriggers: boolean;
  /** Whether repeats of the upload have the same job: its events without an event_id then get ids from their places. */
  isRepeatable: boolean;
  headers: Readonly<Record<string, string>>;
  /** Takes events from the quotas of the sender. @throws ProblemError 429 when they have no room for them */
  takeFromQuotas: (events: number) => Promise<void>;
}

export interface ImportDependencies {
  writer: RecordWriter;
  partitionOf: (key: string) => number;
}

/** What came of an upload. */
export interface ImportOutcome {
  accepted: number;
  failed: number;
  /** The first invalid events. */
  rejected: readonly RejectedEvent[];
  /** How far the log is with the events; undefined: none was taken. */
  position: string | undefined;
  /** An earlier upload of the job came to its end, and this one is the same: nothing was taken again. */
  isRepeated: boolean;
}

/** Parts that are being written at a time. */
const partsInFlight = 3;
/** Rejections in an answer: so many, or of so many characters. */
const maximumRejected = { events: 5_000, characters: 1_000_000 };

/** SHA-256 of what makes two uploads the same. */
export function digestOf(request: readonly string[]): Hash {
  return createHash('sha256').update(JSON.stringify(request));
}

export class ImportRun {
  #isDone = false;
  #earlier: string | null = null;
  #hasStarted = false;
  #index = 0;
  #accepted = 0;
  #failed = 0;
  readonly #rejected: RejectedEvent[] = [];
  #rejectedCharacters = 0;
  readonly #positions = new Map<number, bigint>();
  /** Parts whose events are being written, the oldest first. Each tells the job when it is its turn. */
  readonly #writing: Promise<void>[] = [];

  constructor(
    private readonly upload: ImportUpload,
    private readonly job: ImportJob,
    private readonly dependencies: ImportDependencies,
  ) {}

  /** Checks the events of a part and begins to write the valid ones. Resolves when a further part may be read. */
  async take(rows: readonly SentRow[]): Promise<void> {
    await this.#start();
    const { ouId, jobId, isRepeatable } = this.upload;
    const receivedAt = new Date().toISOString();
    const { events, rejected } = validateEvents(
      rows.map(({ event }) => event),
      { ouId, receivedAt, repeatableBatchId: isRepeatable ? jobId : null, firstIndex: this.#index },
    );
    const told = {
      done: rows.length,
      failed: rejected.length,
      errors: rejected.slice(0, records.maximumJobErrors).map((one) => errorOf(one, rows, this.#index)),
    };
    this.#index += rows.length;
    this.#count(events.length, rejected);
    if (this.#earlier !== null) return;
    const bytes = rows.reduce((sum, row) => sum + row.bytes + 200, 0);
    const written = this.#write(events, receivedAt, bytes);
    const before = this.#writing.at(-1) ?? Promise.resolve();
    const next = Promise.all([written, before]).then(() => {
      this.job.take(told);
    });
    next.catch(() => undefined);
    this.#writing.push(next);
    if (this.#writing.length >= partsInFlight) await this.#writing.shift();
    this.job.check();
  }

  /**
   * The upload has come to its end.
   * @throws ProblemError 422 when an upload of this job came to its end before, and this one is another
   */
  async complete(digest: string): Promise<ImportOutcome> {
    await Promise.all(this.#writing);
    if (this.#earlier === null) await this.job.complete(digest);
    else if (this.#earlier !== digest)
      throw problem(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another import. Use a new key for a new import.',
      );
    this.#isDone = true;
    return {
      accepted: this.#accepted,
      failed: this.#failed,
      rejected: this.#rejected,
      position: this.#positions.size > 0 ? encodePosition(this.#positions) : undefined,
      isRepeated: this.#earlier !== null,
    };
  }

  /** The upload has broken off: its job says why, after the parts that are being written. */
  async fail(error: unknown): Promise<void> {
    if (!this.#hasStarted || this.#isDone || this.#earlier !== null) return;
    await Promise.allSettled(this.#writing);
    this.job.fail(
      error instanceof ProblemError
        ? { code: error.code, detail: `${error.detail} The events up to there are in.` }
        : {
            code: 'internal_error',
            detail: 'Something went wrong on our side. The events up to there are in.',
          },
    );
  }

  async #start(): Promise<void> {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#earlier = await this.job.start(this.upload.fireTriggers);
  }

  async #write(events: records.ChunkEvent[], receivedAt: string, estimatedBytes: number): Promise<void> {
    const { ouId, jobId, fireTriggers, headers, takeFromQuotas } = this.upload;
    const { writer, partitionOf } = this.dependencies;
    const batch = { ouId, batchId: jobId, source: 'import' as const, fireTriggers, receivedAt };
    const chunks = chunkRecords({ ...batch, events, estimatedBytes, headers }, partitionOf);
    await takeFromQuotas(events.length);
    try {
      reach(this.#positions, await writer.write(chunks));
    } catch (error) {
      throw asLogProblem(error, jobId) as Error;
    }
  }

  #count(accepted: number, rejected: readonly RejectedEvent[]): void {
    this.#accepted += accepted;
    this.#failed += rejected.length;
    for (const one of rejected) {
      if (this.#rejected.length >= maximumRejected.events) return;
      if (this.#rejectedCharacters >= maximumRejected.characters) return;
      this.#rejectedCharacters += JSON.stringify(one).length;
      this.#rejected.push(one);
    }
  }
}

function errorOf(
  { index, errors }: RejectedEvent,
  rows: readonly SentRow[],
  firstIndex: number,
): records.JobError {
  const row = rows[index - firstIndex]?.row;
  const message = errors
    .map(({ path, message: what }) => (path === '' ? what : `${path} ${what}`))
    .join('; ');
  return { ...(row !== undefined && { row }), code: 'invalid_event', message: message.slice(0, 1_000) };
}

/** The answer to an upload. */
export function answerTo(
  { accepted, failed, rejected, position, isRepeated }: ImportOutcome,
  { jobId, isPartial }: { jobId: string; isPartial: boolean },
): { status: number; body: string; repeated: boolean } {
  return {
    status: 202,
    repeated: isRepeated,
    body: JSON.stringify({
      job_id: jobIdOf('ingest', jobId),
      accepted,
      ...(isPartial && { rejected, failed }),
      batch_id: jobId,
      ...(position !== undefined && { position }),
    }),
  };
}
