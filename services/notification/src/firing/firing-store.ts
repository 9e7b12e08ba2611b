// Firings and silences of a partition as queries show them: stored beside the batches that follow.
import {
  createGuardedWriter,
  insertMissing,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  firedEvents,
  suppressions,
  toFiredDocument,
  toSuppressionDocument,
  type FiredDocument,
  type SuppressionDocument,
} from './documents.js';
import { deleteFirings, deleteSuppressions, type ForgottenLead } from './forgetting.js';
import { isFired, type FiringEvent } from './messages.js';

/** An own event as the partition folds it. */
export interface RecordedFiring {
  readonly event: FiringEvent;
  /** The payload as it is on the log. */
  readonly json: Buffer;
  readonly offset: number;
}

interface UnwrittenDocuments {
  readonly firings: FiredDocument[];
  readonly suppressions: SuppressionDocument[];
}

export class FiringStore {
  readonly #writer: GuardedWriter;
  #unwritten = noDocuments();
  /** Rejects after a failed write, and so does every later write: without the failed documents the rest would have gaps. */
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#writer = createGuardedWriter(readModel);
  }

  /** Starts to write what these events show to queries, once the write before has ended. */
  async write(recorded: readonly RecordedFiring[]): Promise<void> {
    for (const one of recorded) this.#add(one);
    await this.#writing;
    const documents = this.#unwritten;
    this.#unwritten = noDocuments();
    this.#writing = this.#store(documents);
    this.#writing.catch(() => undefined);
  }

  #add({ event, json, offset }: RecordedFiring): void {
    const { partition } = this;
    if (isFired(event)) this.#unwritten.firings.push(toFiredDocument(event, json, partition));
    else if (event.type === 'TriggerSuppressed')
      this.#unwritten.suppressions.push(toSuppressionDocument(event.payload, { partition, offset }));
  }

  async #store(documents: UnwrittenDocuments): Promise<void> {
    await insertMissing(this.readModel.collection(firedEvents), documents.firings);
    await this.#writer.write(this.readModel.collection(suppressions), documents.suppressions);
  }

  /** Resolves when everything that is being written as of this call is stored. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** Deletes what is stored of leads that are forgotten with these events. */
  async forget(recorded: readonly RecordedFiring[], leads: readonly ForgottenLead[]): Promise<void> {
    await this.#writing;
    await deleteFirings(
      this.readModel,
      recorded.map(({ event }) => event),
    );
    await deleteSuppressions(this.readModel, leads);
  }
}

function noDocuments(): UnwrittenDocuments {
  return { firings: [], suppressions: [] };
}
