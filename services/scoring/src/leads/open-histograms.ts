// The histograms of a partition's OUs in memory: the number of the partition's leads by score. Their documents also hold the open
// lists of gains, so that these cost no write of their own.
import { BufferedStates, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { openGainsOf, storedOpenGains } from '../gains/documents.js';
import { addGains, openGains, removeGains, type OpenGains } from '../gains/gain-model.js';
import { OpenGainLists } from '../gains/open-gain-lists.js';
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
/** The number of OUs whose histograms stay in memory; a histogram has a few KB, at most some 100 KB. */
const maximumCached = 1_000;

/** Changed in place, because few of its many counts change at a time. */
export interface OpenHistogram {
  ouId: string;
  buckets: Map<number, number>;
  /** Of profile scores other than 0. */
  profileBuckets: Map<number, number>;
  /** Of deal scores other than 0. */
  dealBuckets: Map<number, number>;
  leads: number;
  aliasKinds: Set<string>;
  gains: OpenGains;
  /** The offset of the last counted decision. */
  offset: number;
}

export class OpenHistograms {
  /** By OU. */
  readonly states: BufferedStates<OpenHistogram, HistogramDocument>;
  /** Written before the histograms. */
  readonly gainLists: OpenGainLists;

  /** @param entriesPerList entries of a full list of gains */
  constructor(
    readModel: ReadModel,
    partition: number,
    private readonly entriesPerList: number | undefined,
  ) {
    this.gainLists = new OpenGainLists(readModel, partition);
    this.states = new BufferedStates(readModel, {
      collection: histograms,
      idOf: (ouId) => histogramId(ouId, partition),
      toState: openHistogram,
      toDocument: (open) => toHistogramDocument(open, partition),
      maximumCached,
      changesInPlace: true,
    });
  }

  /** Counts the changes of a batch. */
  async fold(batch: LeadBatch): Promise<void> {
    const ouIds = new Set(batch.events.map(({ payload }) => payload.ou_id));
    const loaded = await this.states.load(ouIds);
    await this.gainLists.begin(batch.removed.asTheyWere());
    const changed = new Set<OpenHistogram>();
    for (const event of batch.events) {
      const { ou_id } = event.payload;
      let open = loaded.get(ou_id);
      if (!open) loaded.set(ou_id, (open = emptyHistogram(ou_id)));
      if (open.offset >= event.offset) continue;
      open.offset = event.offset;
      changed.add(open);
      if (event.type === 'LeadScored') countScored(open, event, batch.isFirst(event));
      else if (event.type === 'ScoreAdjusted') countAdjusted(open, event.payload);
      if (event.type === 'LeadScored' || event.type === 'ScoreAdjusted') this.#addGains(open, event);
      else if (event.type === 'LeadRemoved') {
        countRemoved(open, batch.removed.scoresBefore(event));
        removeGains(open.gains, event.payload.lead_id);
        this.gainLists.remove(open.ouId, event.payload.lead_id, event.offset);
      }
    }
    for (const open of changed) this.states.put(open.ouId, open);
  }

  #addGains(
    { ouId, gains }: OpenHistogram,
    { payload, offset }: Extract<FoldedLeadEvent, { type: 'LeadScored' | 'ScoreAdjusted' }>,
  ): void {
    let hourBefore = gains.hour;
    for (const list of addGains(gains, payload, this.entriesPerList)) {
      this.gainLists.add(ouId, list, { offset, hourBefore });
      hourBefore = list.hour;
    }
  }
}

function emptyHistogram(ouId: string): OpenHistogram {
  return {
    ouId,
    buckets: new Map(),
    profileBuckets: new Map(),
    dealBuckets: new Map(),
    leads: 0,
    aliasKinds: new Set(),
    gains: openGains(),
    offset: -1,
  };
}

function openHistogram(document: HistogramDocument, ouId: string): OpenHistogram {
  return {
    ouId,
    buckets: unpackHistogram(document.buckets),
    profileBuckets: unpackHistogram(document.profile_buckets),
    dealBuckets: unpackHistogram(document.deal_buckets),
    leads: document.leads,
    aliasKinds: new Set(document.alias_kinds),
    gains: openGainsOf(document),
    offset: document.offset,
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

function countAdjusted(
  open: OpenHistogram,
  { score_type, previous_score, score }: Extract<FoldedLeadEvent, { type: 'ScoreAdjusted' }>['payload'],
): void {
  if (score_type === 'engagement') moveLead(open.buckets, previous_score, score);
  else moveSparse(score_type === 'profile' ? open.profileBuckets : open.dealBuckets, previous_score, score);
}

/** @param scores undefined: nothing of the lead was counted */
function countRemoved(open: OpenHistogram, scores: ReturnType<LeadBatch['removed']['scoresBefore']>): void {
  if (!scores) return;
  moveLead(open.buckets, scores.engagement, null);
  moveSparse(open.profileBuckets, scores.profile, 0);
  moveSparse(open.dealBuckets, scores.deal, 0);
  open.leads -= 1;
}

/** Profile and deal scores of 0 are not counted: they are those of all other leads. */
function moveSparse(buckets: Map<number, number>, from: number, to: number): void {
  moveLead(buckets, from === 0 ? null : from, to === 0 ? null : to);
}

function toHistogramDocument(open: OpenHistogram, partition: number): HistogramDocument {
  return {
    _id: histogramId(open.ouId, partition),
    ou: uuidToBinary(open.ouId),
    leads: open.leads,
    buckets: packHistogram(open.buckets),
    ...(open.profileBuckets.size > 0 && { profile_buckets: packHistogram(open.profileBuckets) }),
    ...(open.dealBuckets.size > 0 && { deal_buckets: packHistogram(open.dealBuckets) }),
    alias_kinds: [...open.aliasKinds],
    ...storedOpenGains(open.gains),
    partition,
    offset: open.offset,
  };
}
