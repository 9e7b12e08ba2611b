// Writes what is folded: each document at most once, guarded, in an order in which a reader never misses a lead or a point.
import {
  createGuardedWriter,
  inLockingOrder,
  insertMissing,
  type GuardedDocument,
  type GuardedWriter,
  type Collection,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  histograms,
  leadAliases,
  leads,
  timeline,
  toLeadDocument,
  type AliasDocument,
  type HistogramDocument,
  type LeadDocument,
  type TimelineDocument,
} from './documents.js';
import { toHistogramDocument, type OpenHistogram } from './open-histograms.js';
import type { Lead } from './state.js';

/** What is folded and not written. */
export class UnwrittenLeads {
  readonly entries: TimelineDocument[] = [];
  readonly aliases: AliasDocument[] = [];
  /** By leadName, each as it was folded last. */
  readonly leads = new Map<string, { lead: Lead; isNew: boolean }>();
  readonly histograms = new Set<OpenHistogram>();
}

export class LeadWriter {
  readonly #leads: Collection<LeadDocument>;
  readonly #aliases: Collection<AliasDocument>;
  readonly #timeline: Collection<TimelineDocument>;
  readonly #histograms: Collection<HistogramDocument>;
  readonly #writer: GuardedWriter;
  #unwritten = new UnwrittenLeads();
  /** Being written, or could not be written: what is decided on goes by it all the same. */
  #leaving = this.#unwritten;
  /** Fails for all that come after a failure: what was not written would be missing. */
  #written: Promise<void> = Promise.resolve();

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#leads = readModel.collection(leads);
    this.#aliases = readModel.collection(leadAliases);
    this.#timeline = readModel.collection(timeline);
    this.#histograms = readModel.collection(histograms);
    this.#writer = createGuardedWriter(readModel);
  }

  /** Where to put what is to be written next. A write that begins takes it away: not to be held across an `await`. */
  get unwritten(): UnwrittenLeads {
    return this.#unwritten;
  }

  /** A lead as it was folded last, where that may not be stored yet. */
  unstored(name: string): Lead | undefined {
    return (this.#unwritten.leads.get(name) ?? this.#leaving.leads.get(name))?.lead;
  }

  /** Writes what is folded as of now. One write after the other, whoever asks for it. */
  write(): Promise<void> {
    this.#written = this.#written.then(() => this.#writeUnwritten());
    this.#written.catch(() => undefined);
    return this.#written;
  }

  discard(): void {
    this.#leaving = this.#unwritten = new UnwrittenLeads();
    this.#written = Promise.resolve();
  }

  async #writeUnwritten(): Promise<void> {
    const { entries, aliases, leads, histograms } = (this.#leaving = this.#unwritten);
    this.#unwritten = new UnwrittenLeads();
    // Made now: histograms are counted on while others are written.
    const histogramDocuments = withNews(histograms, (open) => toHistogramDocument(open, this.partition));
    // Before the leads: whoever sees a lead's score finds the entries that explain it.
    await Promise.all([
      insertMissing(this.#timeline, entries),
      insertMissing(this.#aliases, inLockingOrder(aliases)),
    ]);
    await this.#writeGuarded(
      this.#leads,
      withNews(leads.values(), ({ lead }) => toLeadDocument(lead, this.partition)),
    );
    await this.#writeGuarded(this.#histograms, histogramDocuments);
    for (const open of histograms) open.isNew = false;
    this.#leaving = new UnwrittenLeads();
  }

  async #writeGuarded<Stored extends GuardedDocument>(
    collection: Collection<Stored>,
    { documents, news }: { documents: readonly Stored[]; news: ReadonlySet<Stored> },
  ): Promise<void> {
    await this.#writer.write(collection, documents, { isNew: (document) => news.has(document) });
  }
}

/** Documents, and which of them are not stored yet. */
function withNews<Source extends { isNew: boolean }, Stored>(
  sources: Iterable<Source>,
  toDocument: (source: Source) => Stored,
): { documents: Stored[]; news: Set<Stored> } {
  const documents: Stored[] = [];
  const news = new Set<Stored>();
  for (const source of sources) {
    const document = toDocument(source);
    documents.push(document);
    if (source.isNew) news.add(document);
  }
  return { documents, news };
}
