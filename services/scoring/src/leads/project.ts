// Writes a batch of decisions into the stored leads: each document at most once per batch, guarded, in an order in
// which a reader never misses a lead or a point.
import { leadIdOf, type records } from '@lead-scoring/contracts';
import {
  createGuardedWriter,
  createStateCache,
  findByIds,
  hexOf,
  inLockingOrder,
  storedJson,
  insertMissing,
  uuidToBinary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { aliasKey, leadKey, recordKey } from '../keys.js';
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
} from './model.js';
import type { Lead } from './state.js';

export interface FoldedDecision {
  payload: records.LeadScored;
  /** The payload's own text. */
  json: Buffer;
  offset: number;
}

export interface LeadProjection {
  /** The leads as stored; null for those that are not. */
  load(wanted: Iterable<{ ou_id: string; lead_id: string }>): Promise<Map<string, Lead | null>>;
  fold(decisions: readonly FoldedDecision[]): Promise<void>;
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

  async function load(
    wanted: Iterable<{ ou_id: string; lead_id: string }>,
  ): Promise<Map<string, Lead | null>> {
    const owners = new Map<string, { ou_id: string; lead_id: string }>();
    for (const lead of wanted) owners.set(leadName(lead.ou_id, lead.lead_id), lead);
    return cache.load(owners.keys(), async (missing) => {
      const found: [string, Lead][] = [];
      const byKey = new Map<string, string>();
      const ids = missing.flatMap((name) => {
        const owner = owners.get(name);
        if (!owner) return [];
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

  async function fold(decisions: readonly FoldedDecision[]): Promise<void> {
    if (decisions.length === 0) return;
    try {
      await foldLoaded(decisions, await load(decisions.map(({ payload }) => payload)));
    } catch (error) {
      // What is in hand may be ahead of what is stored; the same fold again starts from what is stored.
      clear();
      throw error;
    }
  }

  async function foldLoaded(
    decisions: readonly FoldedDecision[],
    before: Map<string, Lead | null>,
  ): Promise<void> {
    const after = new Map<string, Lead>();
    const changed = new Set<string>();
    for (const { payload, offset } of decisions) {
      const name = leadName(payload.ou_id, payload.lead_id);
      const lead = after.get(name) ?? before.get(name) ?? null;
      const folded = foldLead(lead, payload, offset);
      after.set(name, folded);
      if (folded !== lead) changed.add(name);
    }
    const linked = [...changed].flatMap((name) => linkedAliases(after.get(name), before.get(name) ?? null));
    const entries = decisions.flatMap(({ payload, json, offset }) =>
      payload.scored_events.length > 0
        ? [
            {
              _id: recordKey(payload.lead_id, offset),
              ou: uuidToBinary(payload.ou_id),
              json: storedJson(json),
              partition,
            },
          ]
        : [],
    );

    // Before the leads: whoever sees a lead's score finds the entries that explain it.
    await Promise.all([
      insertMissing(storedTimeline, entries),
      insertMissing(storedAliases, inLockingOrder(linked)),
    ]);
    const fresh = new Set<object>();
    const documents = [...changed].flatMap((name) => {
      const lead = after.get(name);
      if (!lead) return [];
      const document = toLeadDocument(lead, partition);
      if (!before.get(name)) fresh.add(document);
      return [document];
    });
    await writer.write(storedLeads, documents, { isNew: (document) => fresh.has(document) });
    for (const [name, lead] of after) cache.put(name, lead);
    await foldHistograms(decisions, after);
  }

  /** Aliases that the lead has got and that name another lead by themselves. */
  function linkedAliases(lead: Lead | undefined, known: Lead | null): AliasDocument[] {
    if (!lead || lead.aliases === known?.aliases) return [];
    return lead.aliases.slice(known?.aliases.length ?? 0).flatMap(({ alias_kind, alias }) => {
      const aliasLeadId = leadIdOf(lead.ou_id, alias_kind, alias);
      return aliasLeadId === lead.id ? [] : [{ _id: aliasKey(lead.ou_id, aliasLeadId, lead.id), partition }];
    });
  }

  async function foldHistograms(
    decisions: readonly FoldedDecision[],
    after: ReadonlyMap<string, Lead>,
  ): Promise<void> {
    await openMissingHistograms(new Set(decisions.map(({ payload }) => payload.ou_id)));
    const changed = new Set<OpenHistogram>();
    for (const { payload, offset } of decisions) {
      const open = openHistograms.get(payload.ou_id);
      if (!open || open.offset >= offset) continue;
      const isFirst = after.get(leadName(payload.ou_id, payload.lead_id))?.first_offset === offset;
      moveLead(open.buckets, isFirst ? null : payload.previous_score, payload.score);
      if (isFirst) open.leads += 1;
      for (const { alias_kind } of payload.aliases)
        if (open.aliasKinds.size < maximumAliasKinds) open.aliasKinds.add(alias_kind);
      open.offset = offset;
      changed.add(open);
    }
    const fresh = new Set<object>();
    const documents = [...changed].map((open) => {
      const document = {
        _id: histogramId(open.ouId, partition),
        ou: uuidToBinary(open.ouId),
        leads: open.leads,
        buckets: packHistogram(open.buckets),
        alias_kinds: [...open.aliasKinds],
        partition,
        offset: open.offset,
      };
      if (open.isNew) fresh.add(document);
      return document;
    });
    await writer.write(storedHistograms, documents, { isNew: (document) => fresh.has(document) });
    for (const open of changed) open.isNew = false;
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
  }

  return { load, fold, clear };
}
