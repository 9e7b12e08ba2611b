// The job of an upload: what the gateway tells ingest of it, in the order in which it happens. The log is what counts: a service that does
// not reply in time reads it later, and the upload goes on meanwhile.
import { randomUUID } from 'node:crypto';
import { isProblemCode, jobIdOf, records } from '@lead-scoring/contracts';
import { outgoing, ReplyTimeout, type OutgoingRecord, type Requester } from '@lead-scoring/event-log';
import { asLogProblem } from '../edge/log-problem.js';
import { problem } from '../problem.js';

export interface ImportJobOptions {
  requester: Requester;
  replyTimeoutMs: number;
  jobId: string;
  ouId: string;
  uploadId: string;
  by: records.StartImport['actor'];
  /** Headers of the commands, without `correlation-id`. */
  headers: Readonly<Record<string, string>>;
}

/** A part whose events are in the log. */
export type ToldPart = Pick<records.TakeImportPart, 'done' | 'failed' | 'errors'>;

interface JobReply {
  status?: string;
  digest?: string;
}

export class ImportJob {
  #parts = 0;
  #refusal: unknown = null;
  /** Replies that are still to come; they do not reject. */
  readonly #open = new Set<Promise<unknown>>();

  constructor(private readonly options: ImportJobOptions) {}

  /** @returns the digest of an earlier upload of the job that came to its end; null: there is none that is known */
  async start(fireTriggers: boolean): Promise<string | null> {
    const payload = { ...this.#upload(), fire_triggers: fireTriggers, ...this.#requested() };
    const reply = await this.#ask(outgoing(records.startImport, { key: this.options.jobId, payload }));
    return reply?.status === 'completed' ? (reply.digest ?? null) : null;
  }

  /** Tells of the next part; resolves at once, so that the reply comes while the next part is read. */
  take(part: ToldPart, ends?: records.TakeImportPart['ends']): void {
    const payload: records.TakeImportPart = {
      ...this.#upload(),
      part: this.#parts,
      ...part,
      ...(ends && { ends }),
      ...this.#requested(),
    };
    this.#parts += 1;
    const replied = this.#ask(outgoing(records.takeImportPart, { key: this.options.jobId, payload }));
    const settled = replied.then(
      (reply) => {
        const status = reply?.status;
        if (status === 'cancelled' || status === 'failed') this.#refusal ??= this.#ended(status);
      },
      (error: unknown) => {
        this.#refusal ??= error;
      },
    );
    this.#open.add(settled);
    void settled.then(() => this.#open.delete(settled));
  }

  /** @throws ProblemError 409 when the job has ended or was begun anew, and the errors of the log */
  check(): void {
    if (this.#refusal !== null) throw this.#refusal as Error;
  }

  /**
   * Tells of the end of the upload, and waits until the job shows it.
   * @throws ProblemError as `check`
   */
  async complete(digest: string): Promise<void> {
    this.take(nothing, { as: 'completed', digest });
    await Promise.all(this.#open);
    this.check();
  }

  /** Tells that the upload has failed, unless the job knows. */
  fail({ code, detail }: { code: string; detail: string }): void {
    if (this.#refusal !== null) return;
    this.take(nothing, { as: 'failed', error: { code, message: detail.slice(0, 1_000) } });
  }

  #upload(): Pick<records.StartImport, 'job_id' | 'ou_id' | 'upload_id'> {
    const { jobId, ouId, uploadId } = this.options;
    return { job_id: jobId, ou_id: ouId, upload_id: uploadId };
  }

  #requested(): Pick<records.StartImport, 'requested_at' | 'actor'> {
    return { requested_at: new Date().toISOString(), actor: this.options.by };
  }

  /** @returns null when the reply does not come in time */
  async #ask(record: OutgoingRecord): Promise<JobReply | null> {
    const { requester, replyTimeoutMs: timeoutMs, headers, jobId } = this.options;
    try {
      const reply = await requester.request(
        { ...record, headers: { ...headers, id: randomUUID() } },
        { timeoutMs },
      );
      if (reply.outcome === 'rejected') throw refusedBy(reply);
      return (reply.result ?? {}) as JobReply;
    } catch (error) {
      if (error instanceof ReplyTimeout) return null;
      throw asLogProblem(error, jobId);
    }
  }

  #ended(status: 'cancelled' | 'failed'): Error {
    const id = jobIdOf('ingest', this.options.jobId);
    return problem(
      'job_ended',
      status === 'cancelled'
        ? `The job ${id} was cancelled. The events of the upload up to there are in.`
        : `The job ${id} has failed: no part of the upload came for too long. The events up to there are in. Send the same upload again with the same Idempotency-Key: it begins anew, and no event counts twice.`,
    );
  }
}

const nothing: ToldPart = { done: 0, failed: 0, errors: [] };

function refusedBy({ code, message }: Extract<records.CommandReplied, { outcome: 'rejected' }>): Error {
  if (!isProblemCode(code)) throw new Error(`a part was rejected with ${code}, which is not declared`);
  return problem(code, message, code === 'log_unavailable' ? { headers: { 'Retry-After': '2' } } : {});
}
