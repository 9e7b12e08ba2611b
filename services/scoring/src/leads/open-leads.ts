// The leads of a partition: folded in memory from decisions, and written when what has come together is stored.
import type { OpenCapability } from '@lead-scoring/capability';
import { leadIdOf } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  createStateCache,
  deleteByIds,
  deleteFound,
  findByIds,
  hexOf,
  storedJson,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
  type StateCache,
} from '@lead-scoring/read-model';
import { aliasKey, leadKey, recordKey, recordKeysUpTo } from '../keys.js';
import { leadAliases, leads, timeline, toLead, type AliasDocument } from './documents.js';
import { foldedLeadEvent, LeadBatch, leadName } from './lead-batch.js';
import { LeadWriter } from './lead-writer.js';
import { OpenHistograms } from './open-histograms.js';
import type { Lead } from './state.js';

interface LeadIdentity {
  ou_id: string;
  lead_id: string;
}

export class OpenLeads implements OpenCapability {
  readonly #partition: number;
  readonly #stored;
  readonly #cache: StateCache<Lead>;
  readonly #writer: LeadWriter;
  readonly #histograms: OpenHistograms;

  constructor(readModel: ReadModel, { partition, cachedLeads }: { partition: number; cachedLeads: number }) {
    this.#partition = partition;
    this.#stored = {
      leads: readModel.collection(leads),
      aliases: readModel.collection(leadAliases),
      timeline: readModel.collection(timeline),
    };
    this.#cache = createStateCache<Lead>({ maximumEntries: cachedLeads });
    this.#writer = new LeadWriter(readModel, partition);
    this.#histograms = new OpenHistograms(readModel, partition);
  }

  /** The leads as folded, by leadName; null for those that there are not. */
  async load(wanted: Iterable<LeadIdentity>): Promise<Map<string, Lead | null>> {
    const identities = new Map<string, LeadIdentity>();
    for (const lead of wanted) identities.set(leadName(lead.ou_id, lead.lead_id), lead);
    return this.#cache.load(identities.keys(), (missing) => this.#fetch(missing, identities));
  }

  async #fetch(
    missing: readonly string[],
    identities: ReadonlyMap<string, LeadIdentity>,
  ): Promise<[string, Lead][]> {
    const found: [string, Lead][] = [];
    const byKey = new Map<string, { name: string; ouId: string }>();
    const ids = missing.flatMap((name) => {
      // The cache may have forgotten it before it was written.
      const folded = this.#writer.unstored(name);
      if (folded) found.push([name, folded]);
      const lead = identities.get(name);
      if (!lead || folded) return [];
      const id = leadKey(lead.ou_id, lead.lead_id);
      byKey.set(hexOf(id), { name, ouId: lead.ou_id });
      return [id];
    });
    for (const document of await findByIds(this.#stored.leads, ids)) {
      const lead = byKey.get(hexOf(document._id));
      if (lead) found.push([lead.name, toLead(document, lead.ouId)]);
    }
    return found;
  }

  /** In memory; only around the removal of a lead it writes. */
  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    if (folded.length === 0) return;
    const events = folded.map(foldedLeadEvent);
    try {
      const before = await this.load(events.map(({ payload }) => payload));
      await this.#foldBatch(new LeadBatch(events, before));
    } catch (error) {
      // What is in memory may be ahead of what is stored; the same fold again starts from what is stored.
      this.forget();
      throw error;
    }
  }

  async #foldBatch(batch: LeadBatch): Promise<void> {
    const { removed } = batch;
    if (removed.any) {
      await this.write();
      // Before the leads: what was removed can be counted only while the leads are as they were.
      await this.#foldHistograms(batch);
      await this.write();
      // Before the leads, which alone know them.
      const aliases = removed.asTheyWere().flatMap((lead) => this.#linkedAliases(lead, null));
      await deleteByIds(
        this.#stored.aliases,
        aliases.map(({ _id }) => _id),
      );
    }
    this.#takeEntries(batch);
    this.#takeLeads(batch);
    if (removed.any) {
      await this.write();
      await this.#deleteRemoved(batch);
    } else await this.#foldHistograms(batch);
  }

  async #foldHistograms(batch: LeadBatch): Promise<void> {
    await this.#histograms.load(new Set(batch.events.map(({ payload }) => payload.ou_id)));
    for (const changed of this.#histograms.fold(batch)) this.#writer.unwritten.histograms.add(changed);
  }

  /** The decisions that gave points. */
  #takeEntries({ events, removed }: LeadBatch): void {
    const { entries } = this.#writer.unwritten;
    for (const event of events)
      if (event.type === 'LeadScored' && event.payload.scored_events.length > 0 && !removed.isOld(event))
        entries.push({
          _id: recordKey(event.payload.lead_id, event.offset),
          ou: uuidToBinary(event.payload.ou_id),
          json: storedJson(event.record.json),
          partition: this.#partition,
        });
  }

  #takeLeads({ before, after, changed, removed }: LeadBatch): void {
    const { aliases, leads: unwritten } = this.#writer.unwritten;
    for (const name of changed) {
      const lead = after.get(name);
      if (!lead) continue;
      aliases.push(...this.#linkedAliases(lead, removed.has(name) ? null : before.get(name)));
      const isNew = unwritten.get(name)?.isNew ?? !before.get(name);
      unwritten.set(name, { lead, isNew });
    }
    for (const [name, lead] of after) this.#cache.put(name, lead);
  }

  /** Aliases that the lead has got and that name another lead by themselves. */
  #linkedAliases(lead: Lead, known: Lead | null | undefined): AliasDocument[] {
    if (lead.aliases === known?.aliases) return [];
    return lead.aliases.slice(known?.aliases.length ?? 0).flatMap(({ alias_kind, alias }) => {
      const aliasLeadId = leadIdOf(lead.ou_id, alias_kind, alias);
      if (aliasLeadId === lead.id) return [];
      return [{ _id: aliasKey(lead.ou_id, aliasLeadId, lead.id), partition: this.#partition }];
    });
  }

  /** Deletes the leads that are gone, and what explains their scores; a lead that was made since stays. */
  async #deleteRemoved({ removed }: LeadBatch): Promise<void> {
    const { leads: storedLeads, timeline: storedTimeline } = this.#stored;
    for (const { ou_id, id, offset } of removed.all()) {
      await withClassifiedErrors(() =>
        storedLeads.deleteMany({ _id: leadKey(ou_id, id), offset: { $lt: offset } }),
      );
      await deleteFound(storedTimeline, { _id: recordKeysUpTo(id, offset) });
    }
  }

  /** Writes what is folded as of now. More may be folded meanwhile. */
  write(): Promise<void> {
    return this.#writer.write();
  }

  forget(): void {
    this.#cache.clear();
    this.#histograms.clear();
    this.#writer.discard();
  }
}
