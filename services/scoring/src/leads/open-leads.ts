// The leads of a partition: folded in memory from decisions, and written behind the next batch.
import pLimit from 'p-limit';
import type { OpenCapability } from '@lead-scoring/capability';
import { leadIdOf, records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord, type IncomingRecord } from '@lead-scoring/event-log';
import {
  BufferedInserts,
  BufferedStates,
  deleteByIds,
  deleteFound,
  deleteMatching,
  offsetToNumber,
  storedJson,
  uuidToBinary,
  withClassifiedErrors,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import { compileDecays, explainsScore } from '@lead-scoring/scoring-domain';
import { DueLeads } from '../decays/due-leads.js';
import { scheduledLead } from '../decays/decay-fold.js';
import { aliasKey, leadKey, leadKeysBetween, leadOfKey, recordKey, recordKeysUpTo } from '../keys.js';
import {
  leadAliases,
  leads,
  timeline,
  toLead,
  toLeadDocument,
  type AliasDocument,
  type LeadDocument,
  type TimelineDocument,
} from './documents.js';
import {
  foldedLeadEvent,
  identityOf,
  LeadBatch,
  leadName,
  type FoldedLeadEvent,
  type LeadIdentity,
} from './lead-batch.js';
import { OpenTextIndex } from '../text-index/open-text-index.js';
import type { TextIndexSize } from '../text-index/documents.js';
import { OpenHistograms } from './open-histograms.js';
import { ScoreRanks } from './score-ranks.js';
import type { Lead } from './state.js';

/** Removed leads with long timelines whose entries a process deletes at the same time. */
const deletions = pLimit(8);
/** The most events of a lead with a short timeline. */
const shortTimeline = 200;
/**
 * The leads of a partition that stay in memory as objects. A major collection of 200,000 leads as objects holds the event loop for most of
 * half a second where the processor is busy.
 */
const leadsAsObjects = 5_000;

export class OpenLeads implements OpenCapability {
  readonly #partition: number;
  readonly #stored;
  readonly #leads: BufferedStates<Lead, LeadDocument>;
  readonly #entries: BufferedInserts<TimelineDocument>;
  readonly #aliases: BufferedInserts<AliasDocument>;
  readonly #histograms: OpenHistograms;
  readonly #texts: OpenTextIndex;
  readonly #due: DueLeads;
  readonly #ranks: readonly ScoreRanks[];
  readonly #decided = new WeakMap<readonly IncomingRecord[], Map<string, Lead>>();
  readonly #behind: WriteBehind;

  /** @param options `gainsPerList`: entries of a full list of gains; `textIndexSize`: the sizes of the index of texts */
  constructor(
    readModel: ReadModel,
    {
      partition,
      cachedLeads,
      gainsPerList,
      textIndexSize,
    }: { partition: number; cachedLeads: number; gainsPerList?: number; textIndexSize?: TextIndexSize },
  ) {
    this.#partition = partition;
    this.#stored = {
      leads: readModel.collection(leads),
      aliases: readModel.collection(leadAliases),
      timeline: readModel.collection(timeline),
    };
    this.#leads = new BufferedStates(readModel, {
      collection: leads,
      idOf: (name) => leadKey(...identityOf(name)),
      toState: (document, name) => toLead(document, identityOf(name)[0]),
      toDocument: (lead) => toLeadDocument(lead, partition),
      maximumCached: cachedLeads,
      cachedAsObjects: leadsAsObjects,
    });
    this.#entries = new BufferedInserts(readModel, timeline);
    this.#aliases = new BufferedInserts(readModel, leadAliases, { order: 'ids' });
    this.#histograms = new OpenHistograms(readModel, partition, gainsPerList);
    this.#texts = new OpenTextIndex(
      readModel,
      partition,
      {
        write: () => this.write(),
        hasLeads: async (ouId) => (await this.#histograms.states.load([ouId])).get(ouId) != null,
      },
      textIndexSize,
    );
    this.#due = new DueLeads(readModel, partition);
    this.#ranks = (['profile', 'deal'] as const).map((type) => new ScoreRanks(readModel, partition, type));
    // Entries before leads, so that a reader of a lead's score finds the entries that explain it. Leads before histograms, so that a
    // list that uses a histogram misses no lead. Full lists of gains before the histograms, which count them. The index of due leads
    // and the ranks before the leads from which they follow, and so the index of texts.
    const [textPages, ...textIndex] = this.#texts.stages;
    this.#behind = new WriteBehind([
      [
        textPages,
        this.#entries,
        this.#aliases,
        this.#due.states,
        ...this.#ranks.map(({ states }) => states),
        this.#histograms.gainLists.lists,
      ],
      ...textIndex,
      [this.#leads, this.#histograms.gainLists.expired],
      this.#histograms.states,
    ]);
  }

  /** The folded leads, by leadName; null for a lead that does not exist. */
  load(wanted: Iterable<LeadIdentity>): Promise<Map<string, Lead | null>> {
    return this.#leads.load(namesOf(wanted));
  }

  /**
   * The leads of a batch of commands as they are decided so far, by leadName: several capabilities decide on the same lead. Those
   * that decide on it put it in.
   */
  decidedIn(batch: readonly IncomingRecord[]): Map<string, Lead> {
    const known = this.#decided.get(batch);
    if (known) return known;
    const decided = new Map<string, Lead>();
    this.#decided.set(batch, decided);
    return decided;
  }

  /** The ids of stored leads of an OU in this partition, in their order; a lead that was just made may be missing. */
  idsAfter(ouId: string, after: string | null, limit?: number): Promise<string[]> {
    return this.#idsBetween(ouId, { after, to: null, limit });
  }

  async #idsBetween(
    ouId: string,
    { after, to, limit }: { after: string | null; to: string | null; limit?: number | undefined },
  ): Promise<string[]> {
    const found = await withClassifiedErrors(() =>
      this.#stored.leads
        .find({ _id: leadKeysBetween(ouId, after, to), partition: this.#partition })
        .sort({ _id: 1 })
        .limit(limit ?? 0)
        .project<Pick<LeadDocument, '_id'>>({ _id: 1 })
        .toArray(),
    );
    return found.map(({ _id }) => leadOfKey(_id));
  }

  /** The leads that are due at a moment, those that are due longest first. */
  due(moment: { asOf: string; limit: number }): Promise<LeadIdentity[]> {
    return this.#due.due(moment, () => this.write());
  }

  /** Folds in memory; writes only before and after the removal of a lead, and before leads are looked up to be scheduled. */
  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    let from = 0;
    for (const [index, record] of folded.entries()) {
      if (!isRecord(record, records.decaysScheduled)) continue;
      await this.#foldDecisions(folded.slice(from, index));
      await this.#schedule(record.payload, offsetToNumber(record.offset));
      from = index + 1;
    }
    await this.#foldDecisions(from === 0 ? folded : folded.slice(from));
  }

  /** Finds out when leads are due by the rules in the event. */
  async #schedule(
    { ou_id, after, to, only, decays }: records.DecaysScheduled,
    offset: number,
  ): Promise<void> {
    // Leads that are not stored yet are in the range as well.
    if (!only) await this.write();
    const ids = only ?? (await this.#idsBetween(ou_id, { after, to }));
    const rules = compileDecays(decays);
    const found = await this.load(ids.map((lead_id) => ({ ou_id, lead_id })));
    for (const [name, lead] of found) {
      // Folded already, before a crash.
      if (lead && lead.offset >= offset) continue;
      const scheduled = lead && scheduledLead(lead, rules, offset);
      if (scheduled && scheduled !== lead) this.#leads.put(name, scheduled);
      this.#due.put(name, scheduled);
    }
  }

  async #foldDecisions(folded: readonly FoldedRecord[]): Promise<void> {
    if (folded.length === 0) return;
    await this.#behind.room();
    const events = folded.map(foldedLeadEvent);
    const before = await this.load(events.map(({ payload }) => payload));
    await this.#foldBatch(new LeadBatch(events, before));
  }

  async #foldBatch(batch: LeadBatch): Promise<void> {
    const { removed } = batch;
    await this.#texts.fold(batch.textChanges);
    if (removed.any) {
      await this.write();
      // Before the leads, because a removal can be counted only while the lead is stored.
      await this.#histograms.fold(batch);
      await this.write();
      // Before the leads, through which the aliases are found.
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
    } else await this.#histograms.fold(batch);
    // The caller of a reset reads its own write.
    if (batch.events.some((event) => event.type === 'ScoreAdjusted' && event.payload.reset_id !== undefined))
      await this.write();
  }

  /** The decisions that explain scores. */
  #takeEntries({ events, removed }: LeadBatch): void {
    for (const event of events)
      if (isDecision(event) && explainsScore(event.payload) && !removed.isOld(event))
        this.#entries.put({
          _id: recordKey(event.payload.lead_id, event.offset),
          ou: uuidToBinary(event.payload.ou_id),
          json: storedJson(event.record.json),
          partition: this.#partition,
        });
  }

  #takeLeads({ events, before, after, changed, dueEntriesChanged, removed }: LeadBatch): void {
    for (const ranks of this.#ranks) ranks.take({ events, before, after, changed });
    for (const name of dueEntriesChanged)
      this.#due.put(name, after.get(name) ?? null, { isNew: !before.get(name)?.due_entry });
    for (const name of changed) {
      const lead = after.get(name);
      if (!lead) {
        this.#leads.deleted(name);
        continue;
      }
      for (const alias of this.#linkedAliases(lead, removed.has(name) ? null : before.get(name)))
        this.#aliases.put(alias);
      this.#leads.put(name, lead);
    }
  }

  /** The lead's new aliases that were linked to it from other leads. */
  #linkedAliases(lead: Lead, known: Lead | null | undefined): AliasDocument[] {
    if (lead.aliases === known?.aliases) return [];
    return lead.aliases.slice(known?.aliases.length ?? 0).flatMap(({ alias_kind, alias }) => {
      const aliasLeadId = leadIdOf(lead.ou_id, alias_kind, alias);
      if (aliasLeadId === lead.id) return [];
      return [{ _id: aliasKey(lead.ou_id, aliasLeadId, lead.id), partition: this.#partition }];
    });
  }

  /** Deletes the removed leads and their timelines, short ones many at once; a later lead with the same id stays. */
  async #deleteRemoved({ removed }: LeadBatch): Promise<void> {
    const { leads: storedLeads, timeline: storedTimeline } = this.#stored;
    const all = [...removed.all()];
    await deleteMatching(
      storedLeads,
      all.map(({ ou_id, id, offset }) => ({ _id: leadKey(ou_id, id), offset: { $lt: offset } })),
    );
    const short = new Set(
      removed.asTheyWere().flatMap(({ id, event_count }) => (event_count <= shortTimeline ? [id] : [])),
    );
    const entriesOf = ({ id, offset }: { id: string; offset: number }) => ({
      _id: recordKeysUpTo(id, offset),
    });
    await deleteMatching(storedTimeline, all.filter(({ id }) => short.has(id)).map(entriesOf));
    await deletions.map(
      all.filter(({ id }) => !short.has(id)),
      (lead) => deleteFound(storedTimeline, entriesOf(lead)),
    );
  }

  /** Writes the leads that are folded so far. Folding may go on meanwhile. */
  write(): Promise<void> {
    return this.#behind.write();
  }

  forget(): void {
    this.#behind.forget();
    this.#due.forget();
  }
}

/** Whether an event changes the score of a lead that stays. */
function isDecision(
  event: FoldedLeadEvent,
): event is Extract<FoldedLeadEvent, { type: 'LeadScored' | 'ScoreAdjusted' }> {
  return event.type === 'LeadScored' || event.type === 'ScoreAdjusted';
}

function* namesOf(leads: Iterable<LeadIdentity>): Generator<string> {
  for (const { ou_id, lead_id } of leads) yield leadName(ou_id, lead_id);
}
