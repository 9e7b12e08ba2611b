// The steps of a partition's jobs that are taken beside the log, because they take longer than a batch may. The owner of the partition
// takes one step of each job at a time, and sends ContinueJob when it is done: that command is decided with what the step has found.
// Nothing of a step counts before. An owner that goes forgets what it took, and the next one takes the step again.
import type { records } from '@lead-scoring/contracts';
import { pause, type RecordWriter } from '@lead-scoring/event-log';
import type { ChangedState } from './aggregate-storage.js';
import type { PartitionScope } from './capability.js';
import type { EffectWork } from './effect.js';
import { findRunningJobs, type AnyWork } from './job-documents.js';
import { continuation, type Job, type JobEvent, type JobStep } from './job-model.js';
import { takeStep, type StepErrorListener } from './job-step.js';

interface RunningKind {
  readonly isBesideLog?: boolean | undefined;
  readonly feed?: { readonly idleMs: number } | undefined;
  step?(job: Job<AnyWork>, scope: PartitionScope, signal: AbortSignal): Promise<JobStep>;
}

export interface JobRunsOptions {
  readonly scope: PartitionScope;
  readonly records: records.JobRecords;
  /** Undefined where no kind takes its steps beside the log. */
  readonly writer: Pick<RecordWriter, 'write'> | undefined;
  readonly kindOf: (job: Job<AnyWork>) => RunningKind;
  readonly onStepError: StepErrorListener;
  /** One step at a time in a process: its memory is that of one step, and several jobs take turns. */
  readonly inTurn: (step: () => Promise<JobStep>) => Promise<JobStep>;
}

/** Milliseconds before a step is taken again, or sent again, that has met an absent server. */
const repeatAfterMs = 1_000;

/** A step that is being taken, or was taken and is not decided yet. */
interface StepRun {
  readonly step: number;
  /** Of the job, which may begin anew at the same step. */
  readonly startedAt: string;
  readonly abort: AbortController;
  taken: JobStep | null;
}

type ChangedJob = ChangedState<Job<AnyWork> | null, JobEvent>;

export class JobRuns implements EffectWork<readonly ChangedJob[]> {
  /** By the id of the job. */
  readonly #runs = new Map<string, StepRun>();

  constructor(private readonly options: JobRunsOptions) {}

  async takeUp(): Promise<void> {
    const { scope } = this.options;
    for (const job of await findRunningJobs(scope.readModel, scope.partition)) this.#follow(job);
  }

  changed(changes: readonly ChangedJob[]): void {
    for (const { state } of changes) if (state) this.#follow(state);
  }

  /** The outcome of the job's next step; null: the step is not done, or another owner has taken it. */
  taken({ job_id, step }: Job<unknown>): JobStep | null {
    const run = this.#runs.get(job_id);
    return run?.step === step ? run.taken : null;
  }

  /** Aborts the steps under way. Each notices the abort at its next request and has no effect, so `stop` does not wait for it. */
  stop(): Promise<void> {
    for (const { abort } of this.#runs.values()) abort.abort();
    this.#runs.clear();
    return Promise.resolve();
  }

  /** Starts the next step of a job that is running, and drops that of one that has ended. */
  #follow(job: Job<AnyWork>): void {
    const known = this.#runs.get(job.job_id);
    if (job.status === 'running' && known?.step === job.step && known.startedAt === job.started_at) return;
    known?.abort.abort();
    this.#runs.delete(job.job_id);
    if (job.status !== 'running') return;
    const { isBesideLog, feed } = this.options.kindOf(job);
    if (isBesideLog !== true && !feed) return;
    const { step, started_at: startedAt } = job;
    const run: StepRun = { step, startedAt, abort: new AbortController(), taken: null };
    void (feed ? this.#endUnlessFed(job, run, feed.idleMs) : this.#take(job, run));
    this.#runs.set(job.job_id, run);
  }

  /** Sends ContinueJob after `idleMs`. If no further part has come, the job is still at this step, and the command ends it as failed. */
  async #endUnlessFed(job: Job<AnyWork>, { abort: { signal } }: StepRun, idleMs: number): Promise<void> {
    await pause(idleMs, signal);
    await this.#send(job, signal);
  }

  /** Takes a step and says that it is done, however often servers are absent. */
  async #take(job: Job<AnyWork>, run: StepRun): Promise<void> {
    const { signal } = run.abort;
    const { scope, kindOf, onStepError, inTurn } = this.options;
    const untilAborted = (error: unknown, of: Pick<Job<unknown>, 'job_id' | 'step'>) => {
      if (!signal.aborted) onStepError(error, of);
    };
    await repeated(signal, async () => {
      const takeInTurn = () =>
        inTurn(() => {
          signal.throwIfAborted();
          const step = kindOf(job).step?.(job, scope, signal);
          if (!step) throw new Error('a job that is fed takes no steps');
          return step;
        });
      run.taken = await takeStep(job, takeInTurn, untilAborted);
    });
    await this.#send(job, signal);
  }

  /** Sends the command to do the job's next step. */
  async #send({ job_id, ou_id, step }: Job<AnyWork>, signal: AbortSignal): Promise<void> {
    const { scope, records, writer } = this.options;
    if (!writer) throw new Error('a job that goes on beside the log was declared without a writer');
    await repeated(signal, () =>
      writer.write([continuation({ job_id, ou_id, step }, { partition: scope.partition, records })]),
    );
  }
}

/** Repeats work that meets absent servers until it is done or aborted. */
async function repeated(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
      return;
    } catch {
      await pause(repeatAfterMs, signal);
    }
  }
}
