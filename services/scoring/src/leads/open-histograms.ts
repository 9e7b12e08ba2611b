// The histograms of a partition's OUs, in memory: how many of the partition's leads have which score.
import { findByIds, hexOf, uuidToBinary, type Collection, type ReadModel } from '@lead-scoring/read-model';
import {
  histogramId,
  histograms,
  packHistogram,
  unpackHistogram,
  type HistogramDocument,
} from './documents.js';
import { moveLead } from './histogram-fold.js';
import type { FoldedLeadEvent, LeadBatch } from './lead-batch.js';

const maximumAliasKinds = 100;

/** Changed in place: each has many counts, and few of them change. */
export interface OpenHistogram {
  ouId: string;
  buckets: Map<number, number>;
  leads: number;
  aliasKinds: Set<string>;
  /** Of the last decision that is counted. */
  offset: number;
  isNew: boolean;
}

export class OpenHistograms {
  readonly #byOu = new Map<string, OpenHistogram>();
  readonly #stored: Collection<HistogramDocument>;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#stored = readModel.collection(histograms);
  }

  /** Loads the histograms of these OUs, where they are not in memory. */
  async load(ouIds: ReadonlySet<string>): Promise<void> {
    const missing = [...ouIds].filter((ouId) => !this.#byOu.has(ouId));
    if (missing.length === 0) return;
    const idOf = (ouId: string) => histogramId(ouId, this.partition);
    const found = await findByIds(this.#stored, missing.map(idOf));
    const stored = new Map(found.map((document) => [hexOf(document._id), document]));
    for (const ouId of missing) this.#byOu.set(ouId, openHistogram(ouId, stored.get(hexOf(idOf(ouId)))));
  }

  /** Counts what a batch has changed in histograms that are loaded. @returns those that have changed */
  fold(batch: LeadBatch): Set<OpenHistogram> {
    const changed = new Set<OpenHistogram>();
    for (const event of batch.events) {
      const open = this.#byOu.get(event.payload.ou_id);
      if (!open || open.offset >= event.offset) continue;
      open.offset = event.offset;
      changed.add(open);
      if (event.type === 'LeadScored') countScored(open, event, batch.isFirst(event));
      else {
        moveLead(open.buckets, event.payload.previous_score, null);
        open.leads -= 1;
      }
    }
    return changed;
  }

  clear(): void {
    this.#byOu.clear();
  }
}

function openHistogram(ouId: string, document: HistogramDocument | undefined): OpenHistogram {
  return {
    ouId,
    buckets: document ? unpackHistogram(document.buckets) : new Map<number, number>(),
    leads: document?.leads ?? 0,
    aliasKinds: new Set(document?.alias_kinds),
    offset: document?.offset ?? -1,
    isNew: !document,
  };
}

function countScored(
  open: OpenHistogram,
  { payload: { previous_score, score, aliases } }: Extract<FoldedLeadEvent, { type: 'LeadScored' }>,
  isFirst: boolean,
): void {
  moveLead(open.buckets, isFirst ? null : previous_score, score);
  if (isFirst) open.leads += 1;
  for (const { alias_kind } of aliases)
    if (open.aliasKinds.size < maximumAliasKinds) open.aliasKinds.add(alias_kind);
}

export function toHistogramDocument(open: OpenHistogram, partition: number): HistogramDocument {
  return {
    _id: histogramId(open.ouId, partition),
    ou: uuidToBinary(open.ouId),
    leads: open.leads,
    buckets: packHistogram(open.buckets),
    alias_kinds: [...open.aliasKinds],
    partition,
    offset: open.offset,
  };
}
