// Folds decisions into leads, in memory, and writes what has come together: each document at most once, guarded, in an
// order in which a reader never misses a lead or a point.
import { leadIdOf, type records } from '@lead-scoring/contracts';
import {
  createGuardedWriter,
  createStateCache,
  deleteByIds,
  deleteFound,
  findByIds,
  hexOf,
  inLockingOrder,
  storedJson,
  insertMissing,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { aliasKey, leadKey, recordKey, recordKeysUpTo } from '../keys.js';
import { foldLead } from './fold.js';
import { moveLead } from './histogram-fold.js';
import {
  histogramId,
  histograms,
  leadAliases,
  leads as leadCollection,
  packHistogram,
  timeline as timelineCollection,
  toLead,
  toLeadDocument,
  unpackHistogram,
  type AliasDocument,
  type HistogramDocument,
  type TimelineDocument,
} from './model.js';
import type { Lead } from './state.js';

export type FoldedLeadEvent =
  | {
      type: 'LeadScored';
      payload: records.LeadScored;
      /** The payload's own text. */
      json: Buffer;
      offset: number;
    }
  | { type: 'LeadRemoved'; payload: records.LeadRemoved; offset: number };

export interface LeadProjection {
  /** The leads as folded; null for those that there are not. */
  load(wanted: Iterable<{ ou_id: string; lead_id: string }>): Promise<Map<string, Lead | null>>;
  /** In memory; only around the removal of a lead it writes. */
  fold(events: readonly FoldedLeadEvent[]): Promise<void>;
  /** Writes what is folded as of now. More may be folded meanwhile. */
  write(): Promise<void>;
  /** Forgets what is in hand. */
  clear(): void;
}

/** The key of a lead in `load`'s answer. */
export function leadName(ouId: string, leadId: string): string {
  return `${ouId}/${leadId}`;
}

interface OpenHistogram {
  ouId: string;
  buckets: Map<number, number>;
  leads: number;
  aliasKinds: Set<string>;
  offset: number;
  isNew: boolean;
}

/** What is folded and not written. */
class Unwritten {
  readonly entries: TimelineDocument[] = [];
  readonly aliases: AliasDocument[] = [];
  /** By leadName, each as it was folded last. */
  readonly leads = new Map<string, { lead: Lead; isNew: boolean }>();
  readonly histograms = new Set<OpenHistogram>();
}

const maximumAliasKinds = 100;

export function createLeadProjection(
  readModel: ReadModel,
  { partition, cachedLeads }: { partition: number; cachedLeads: number },
): LeadProjection {
  const storedLeads = readModel.collection(leadCollection);
  const storedAliases = readModel.collection(leadAliases);
  const storedTimeline = readModel.collection(timelineCollection);
  const storedHistograms = readModel.collection(histograms);
  const writer = createGuardedWriter(readModel);
  const cache = createStateCache<Lead>({ maximumEntries: cachedLeads });
  const openHistograms = new Map<string, OpenHistogram>();
  let unwritten = new Unwritten();
  /** Being written, or could not be written: what is decided on goes by it all the same. */
  let leaving = unwritten;
  /** Fails for all that come after a failure: what was not written would be missing. */
  let written: Promise<void> = Promise.resolve();

  async function load(
    wanted: Iterable<{ ou_id: string; lead_id: string }>,
  ): Promise<Map<string, Lead | null>> {
    const owners = new Map<string, { ou_id: string; lead_id: string }>();
    for (const lead of wanted) owners.set(leadName(lead.ou_id, lead.lead_id), lead);
    return cache.load(owners.keys(), async (missing) => {
      const found: [string, Lead][] = [];
      const byKey = new Map<string, string>();
      const ids = missing.flatMap((name) => {
        // The cache may have forgotten it before it was written.
        const folded = unwritten.leads.get(name) ?? leaving.leads.get(name);
        if (folded) found.push([name, folded.lead]);
        const owner = owners.get(name);
        if (!owner || folded) return [];
        const id = leadKey(owner.ou_id, owner.lead_id);
        byKey.set(hexOf(id), name);
        return [id];
      });
      for (const document of await findByIds(storedLeads, ids)) {
        const name = byKey.get(hexOf(document._id));
        const owner = name === undefined ? undefined : owners.get(name);
        if (name !== undefined && owner) found.push([name, toLead(document, owner.ou_id)]);
      }
      return found;
    });
  }

  async function fold(events: readonly FoldedLeadEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      await foldLoaded(events, await load(events.map(({ payload }) => payload)));
    } catch (error) {
      // What is in hand may be ahead of what is stored; the same fold again starts from what is stored.
      clear();
      throw error;
    }
  }

  async function foldLoaded(
    events: readonly FoldedLeadEvent[],
    before: Map<string, Lead | null>,
  ): Promise<void> {
    const after = new Map<string, Lead | null>();
    const changed = new Set<string>();
    const removed = new Removed();
    for (const event of events) {
      const { payload, offset } = event;
      const name = leadName(payload.ou_id, payload.lead_id);
      const current = after.get(name);
      const lead = current === undefined ? (before.get(name) ?? null) : current;
      if (event.type === 'LeadRemoved') {
        removed.add(name, event.payload, offset, lead);
        // One that was folded before may have been followed by a new lead.
        after.set(name, lead && lead.offset > offset ? lead : null);
        changed.add(name);
        continue;
      }
      const folded = foldLead(lead, event.payload, offset);
      after.set(name, folded);
      if (folded !== lead) changed.add(name);
    }
    if (removed.any) {
      await write();
      // Before the leads: what was removed can be counted only while the leads are as they were.
      await foldHistograms(events, after, removed);
      await write();
      // Before the leads, which alone know them.
      await deleteByIds(
        storedAliases,
        removed.leads().flatMap((lead) => linkedAliases(lead, null).map(({ _id }) => _id)),
      );
    }
    for (const event of events)
      if (event.type === 'LeadScored' && event.payload.scored_events.length > 0 && !removed.isOld(event))
        unwritten.entries.push({
          _id: recordKey(event.payload.lead_id, event.offset),
          ou: uuidToBinary(event.payload.ou_id),
          json: storedJson(event.json),
          partition,
        });
    for (const name of changed) {
      const lead = after.get(name);
      if (!lead) continue;
      unwritten.aliases.push(...linkedAliases(lead, removed.has(name) ? null : before.get(name)));
      const isNew = unwritten.leads.get(name)?.isNew ?? !before.get(name);
      unwritten.leads.set(name, { lead, isNew });
    }
    for (const [name, lead] of after) cache.put(name, lead);
    if (removed.any) {
      await write();
      await deleteRemoved(removed);
    } else await foldHistograms(events, after, removed);
  }

  /** One after the other, whoever asks for it. */
  function write(): Promise<void> {
    written = written.then(writeUnwritten);
    written.catch(() => undefined);
    return written;
  }

  async function writeUnwritten(): Promise<void> {
    const { entries, aliases, leads, histograms: changed } = (leaving = unwritten);
    unwritten = new Unwritten();
    const freshHistograms = new Set<object>();
    const histogramDocuments = [...changed].map((open) => {
      const document = toHistogramDocument(open);
      if (open.isNew) freshHistograms.add(document);
      return document;
    });
    // Before the leads: whoever sees a lead's score finds the entries that explain it.
    await Promise.all([
      insertMissing(storedTimeline, entries),
      insertMissing(storedAliases, inLockingOrder(aliases)),
    ]);
    const fresh = new Set<object>();
    const documents = [...leads.values()].map(({ lead, isNew }) => {
      const document = toLeadDocument(lead, partition);
      if (isNew) fresh.add(document);
      return document;
    });
    await writer.write(storedLeads, documents, { isNew: (document) => fresh.has(document) });
    await writer.write(storedHistograms, histogramDocuments, {
      isNew: (document) => freshHistograms.has(document),
    });
    for (const open of changed) open.isNew = false;
    leaving = new Unwritten();
  }

  /** The leads that are gone, and what explains their scores; a lead that was made since stays. */
  async function deleteRemoved(removed: Removed): Promise<void> {
    for (const { ou_id, id, offset } of removed.all()) {
      await withClassifiedErrors(() =>
        storedLeads.deleteMany({ _id: leadKey(ou_id, id), offset: { $lt: offset } }),
      );
      await deleteFound(storedTimeline, { _id: recordKeysUpTo(id, offset) });
    }
  }

  /** Aliases that the lead has got and that name another lead by themselves. */
  function linkedAliases(lead: Lead | null | undefined, known: Lead | null | undefined): AliasDocument[] {
    if (!lead || lead.aliases === known?.aliases) return [];
    return lead.aliases.slice(known?.aliases.length ?? 0).flatMap(({ alias_kind, alias }) => {
      const aliasLeadId = leadIdOf(lead.ou_id, alias_kind, alias);
      return aliasLeadId === lead.id ? [] : [{ _id: aliasKey(lead.ou_id, aliasLeadId, lead.id), partition }];
    });
  }

  async function foldHistograms(
    events: readonly FoldedLeadEvent[],
    after: ReadonlyMap<string, Lead | null>,
    removed: Removed,
  ): Promise<void> {
    await openMissingHistograms(new Set(events.map(({ payload }) => payload.ou_id)));
    for (const event of events) {
      const { payload, offset } = event;
      const open = openHistograms.get(payload.ou_id);
      if (!open || open.offset >= offset) continue;
      open.offset = offset;
      unwritten.histograms.add(open);
      if (event.type === 'LeadRemoved') {
        moveLead(open.buckets, event.payload.previous_score, null);
        open.leads -= 1;
        continue;
      }
      const { previous_score, score, aliases } = event.payload;
      const isFirst =
        after.get(leadName(payload.ou_id, payload.lead_id))?.first_offset === offset ||
        removed.firstOffsets.has(offset);
      moveLead(open.buckets, isFirst ? null : previous_score, score);
      if (isFirst) open.leads += 1;
      for (const { alias_kind } of aliases)
        if (open.aliasKinds.size < maximumAliasKinds) open.aliasKinds.add(alias_kind);
    }
  }

  function toHistogramDocument(open: OpenHistogram): HistogramDocument {
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

  async function openMissingHistograms(ouIds: ReadonlySet<string>): Promise<void> {
    const missing = [...ouIds].filter((ouId) => !openHistograms.has(ouId));
    if (missing.length === 0) return;
    const found = await findByIds(
      storedHistograms,
      missing.map((ouId) => histogramId(ouId, partition)),
    );
    const stored = new Map(found.map((document) => [hexOf(document._id), document]));
    for (const ouId of missing) {
      const document = stored.get(hexOf(histogramId(ouId, partition)));
      openHistograms.set(ouId, {
        ouId,
        buckets: document ? unpackHistogram(document.buckets) : new Map<number, number>(),
        leads: document?.leads ?? 0,
        aliasKinds: new Set(document?.alias_kinds),
        offset: document?.offset ?? -1,
        isNew: !document,
      });
    }
  }

  function clear(): void {
    cache.clear();
    openHistograms.clear();
    leaving = unwritten = new Unwritten();
    written = Promise.resolve();
  }

  return { load, fold, write, clear };
}

/** The leads that a batch removes. */
class Removed {
  /** Offsets of the decisions that made them. */
  readonly firstOffsets = new Set<number>();
  private readonly byName = new Map<string, { ou_id: string; id: string; offset: number }>();
  private readonly asTheyWere: Lead[] = [];

  get any(): boolean {
    return this.byName.size > 0;
  }

  /** @param lead as it was before; null when somebody has removed it already */
  add(name: string, { ou_id, lead_id }: records.LeadRemoved, offset: number, lead: Lead | null): void {
    this.byName.set(name, { ou_id, id: lead_id, offset });
    if (!lead || lead.offset > offset) return;
    this.firstOffsets.add(lead.first_offset);
    this.asTheyWere.push(lead);
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Whether a decision is of a lead before its removal. */
  isOld({ payload, offset }: FoldedLeadEvent): boolean {
    return this.any && offset < (this.byName.get(leadName(payload.ou_id, payload.lead_id))?.offset ?? 0);
  }

  all(): Iterable<{ ou_id: string; id: string; offset: number }> {
    return this.byName.values();
  }

  leads(): readonly Lead[] {
    return this.asTheyWere;
  }
}
