// What firing knows of one partition: decides what leads' events make triggers do, and folds what came of it.
import { setTimeout } from 'node:timers/promises';
import {
  driversOf,
  records,
  withLeadFields,
  type Alias,
  type LeadFields,
  type ScoringConfiguration,
} from '@lead-scoring/contracts';
import { leadKey, nameOf as shownName, type LeadAccount } from '@lead-scoring/explanations';
import {
  BatchTooLarge,
  outgoing,
  takenOf,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type Touch,
} from '@lead-scoring/event-log';
import {
  createGuardedWriter,
  createStateCache,
  deletePartition,
  findByIds,
  insertMissing,
  keyOf,
  offsetToNumber,
  type ReadModel,
} from '@lead-scoring/read-model';
import { firingInputs } from '../inputs.js';
import type { ShareLinks } from '../share-links.js';
import {
  createLeadAccounts,
  nameOf,
  type AccountsOfBatch,
  type LeadName,
  type SeenLead,
} from './accounts.js';
import { concernsIngested, concernsScored, decideDeletion, decideIngested, decideScored } from './decide.js';
import {
  firingEventOf,
  firingRecords,
  isFired,
  isForgetting,
  type Deletion,
  type FiredDraft,
  type FiringDraft,
  type FiringEvent,
  type Source,
} from './events.js';
import { evolveLead } from './evolve.js';
import type { Explanations } from './explanations.js';
import { isExplained } from './forget-model.js';
import { deleteFirings, deleteSuppressions, forgettingsOf } from './forgetting.js';
import {
  describeFiring,
  requestsOf,
  shareOf,
  type Description,
  type ToldFields,
} from './notification-model.js';
import { initialLeadState, type LeadState } from './state.js';
import {
  firedEvents,
  leadStates,
  suppressions,
  toFiredDocument,
  toLeadState,
  toLeadStateDocument,
  toSuppressionDocument,
  type FiredDocument,
  type SuppressionDocument,
} from './store.js';
import type { TriggerReader } from './trigger-reader.js';

export interface FiringOptions {
  triggers: TriggerReader;
  explanations: Explanations;
  /** null: none are made. */
  shareLinks: ShareLinks | null;
  /** Leads that the partition keeps in hand. */
  cachedLeads: number;
}

export interface FiringPartition {
  /** Records of scoring.events and of ingest.events, each in their order. */
  decide(incoming: readonly IncomingRecord[]): Promise<Required<Pick<Decision, 'events' | 'commands'>>>;
  /**
   * Own events about leads; what is folded already changes nothing. What was told is written beside what follows, where a
   * failure is that of the next fold; the states of leads are written by `write`.
   */
  fold(events: readonly FoldedRecord[]): Promise<void>;
  /**
   * Writes what is folded: a checkpoint of what was folded by then may be stored afterwards. Deciding and folding may go on
   * meanwhile.
   * @param awaited aborted when somebody waits for its end; until then it takes its time
   */
  write(awaited: AbortSignal): Promise<void>;
  /** Drops what is stored of the partition. */
  reset(touch: Touch): Promise<void>;
  /** Forgets what is in hand. */
  clear(): void;
  /** Ends what is being written. */
  close(): Promise<void>;
}

/** Told in one batch, to the log or to a channel; of more, fewer records are decided at a time, which bounds memory. */
const maximumTold = 1_000;
/**
 * States of leads that are kept unwritten: each is written once however often it changes, and it changes with every event
 * that a sequence or a surge looks at. Beyond it they are written beside what follows, once those before are.
 */
const maximumUnwritten = 30_000;
/** States that are written in one go. */
const writtenAtOnce = 200;
/**
 * While nobody waits for it, the states are written evenly over this time, in milliseconds: done in one go it would take, from
 * all that is decided meanwhile, a good part of the processor for seconds.
 */
const writtenWithinMs = 20_000;

function refuse(isTooMuch: boolean): void {
  if (isTooMuch)
    throw new BatchTooLarge(`more than ${String(maximumTold)} firings and notifications in one batch`);
}

/** What others read of what is folded. */
class Told {
  readonly firings: FiredDocument[] = [];
  readonly suppressions: SuppressionDocument[] = [];
}

interface KnownLead {
  state: LeadState;
  /** Of the last own event that is folded into it. */
  offset: number;
}

/** A firing that is still to be described. */
interface Fired {
  draft: FiredDraft;
  because: Concerned;
  /** Its lead, as of then. */
  seen: SeenLead | undefined;
  /** What scoring tells of the lead is known to be of this one. */
  isExplained: boolean;
}

/** A record that may make triggers of its OU do something. */
type Concerned = LeadName & {
  source: Source;
  aliases: readonly Alias[];
  fields?: records.LeadScored['fields'];
  decide(state: LeadState): { events: readonly FiringDraft[]; state: LeadState };
};

export function openFiring(
  readModel: ReadModel,
  partition: number,
  { triggers: triggerReader, explanations, shareLinks, cachedLeads }: FiringOptions,
): FiringPartition {
  const storedStates = readModel.collection(leadStates);
  const writer = createGuardedWriter(readModel);
  const cache = createStateCache<KnownLead>({ maximumEntries: cachedLeads });
  const leadAccounts = createLeadAccounts(partition, explanations, { cachedLeads });
  /**
   * The state that a lead has with an event, by the event's payload, of what was decided last: it is folded next, and what was
   * worked out to decide is not worked out again.
   */
  let decidedStates = new Map<object, LeadState>();
  /** By name; `isNew`: nothing is stored of it. What is folded is unwritten, and then being written. */
  const unwritten = new Map<string, KnownLead & { isNew: boolean }>();
  const beingWritten = new Map<string, KnownLead & { isNew: boolean }>();
  let writes: Promise<void> = Promise.resolve();
  let untold = new Told();
  /** Fails for whoever waits for it, and for all that come after: what was not written would be missing. */
  let beingTold: Promise<void> = Promise.resolve();

  /** Once what was told before is written. */
  async function tell(): Promise<void> {
    await beingTold;
    const told = untold;
    untold = new Told();
    beingTold = writeTold(told);
    beingTold.catch(() => undefined);
  }

  async function writeTold({ firings, suppressions: silences }: Told): Promise<void> {
    await insertMissing(readModel.collection(firedEvents), firings);
    await writer.write(readModel.collection(suppressions), silences);
  }

  /** Aborted when what is being written should be written soon. */
  let haste = new AbortController();

  function write(awaited: AbortSignal): Promise<void> {
    const written = writes.then(() => writeStates(awaited));
    writes = written.catch(() => undefined);
    return written;
  }

  async function writeSome(some: readonly (KnownLead & { isNew: boolean })[]): Promise<void> {
    const fresh = new Set<object>();
    const documents = some.map(({ state, offset, isNew }) => {
      const document = toLeadStateDocument(state, { partition, offset });
      if (isNew) fresh.add(document);
      return document;
    });
    await writer.write(storedStates, documents, { isNew: (document) => fresh.has(document) });
  }

  async function writeStates(awaited: AbortSignal): Promise<void> {
    haste = new AbortController();
    const signal = AbortSignal.any([awaited, haste.signal]);
    for (const [name, known] of unwritten) beingWritten.set(name, known);
    unwritten.clear();
    const toldBefore = beingTold;
    try {
      await toldBefore;
      const all = [...beingWritten.values()];
      const pauseMs = (writtenWithinMs * writtenAtOnce) / all.length;
      for (let from = 0; from < all.length; from += writtenAtOnce) {
        await writeSome(all.slice(from, from + writtenAtOnce));
        if (from + writtenAtOnce < all.length) await setTimeout(pauseMs, null, { signal }).catch(() => null);
      }
      for (const [name, { state, offset }] of beingWritten) cache.put(name, { state, offset });
    } catch (error) {
      for (const [name, known] of beingWritten) if (!unwritten.has(name)) unwritten.set(name, known);
      throw error;
    } finally {
      beingWritten.clear();
    }
  }

  /** By record. */
  async function concernedBy(
    incoming: readonly IncomingRecord[],
  ): Promise<ReadonlyMap<IncomingRecord, Concerned>> {
    const decided = new Map<string, Set<number>>();
    const versionsOf = (ouId: string): Set<number> => {
      const versions = decided.get(ouId) ?? new Set<number>();
      decided.set(ouId, versions);
      return versions;
    };
    const taken = incoming.flatMap((record) => takenByFiring(record) ?? []);
    for (const record of taken) {
      const versions = versionsOf(record.payload.ou_id);
      if (record.type === 'LeadScored') versions.add(record.payload.configuration_version);
    }
    const concerned = new Map<IncomingRecord, Concerned>();
    if (decided.size === 0) return concerned;
    const triggersOf = await triggerReader.load(decided);
    const forget = (record: TakenByFiring, deletion: Deletion, source: Source) => {
      const isWatched = triggersOf(deletion.ou_id).version > 0;
      const { ou_id, lead_id } = deletion;
      const decide = (state: LeadState) => decideDeletion(deletion, source, state, isWatched);
      concerned.set(record, { ou_id, lead_id, aliases: [], source, decide });
    };
    for (const record of taken)
      switch (record.type) {
        case 'LeadScored': {
          const { payload } = record;
          const triggers = triggersOf(payload.ou_id, payload.configuration_version);
          if (!concernsScored(payload, triggers)) continue;
          const source = sourceOf('scoring.events', record);
          const decide = (state: LeadState) => decideScored(payload, source, state, triggers);
          concerned.set(record, { ...told(payload), source, decide });
          break;
        }
        case 'EventsIngested': {
          const { payload } = record;
          const triggers = triggersOf(payload.ou_id);
          if (!concernsIngested(payload, triggers)) continue;
          const source = sourceOf('ingest.events', record);
          const decide = (state: LeadState) => decideIngested(payload, source, state, triggers);
          concerned.set(record, { ...told(payload), source, decide });
          break;
        }
        case 'LeadRemoved': {
          const deletion = { ...record.payload, at: record.payload.removed_at };
          forget(record, deletion, sourceOf('scoring.events', record));
          break;
        }
        case 'LeadDeleted': {
          const deletion = { ...record.payload, at: record.payload.deleted_at };
          forget(record, deletion, sourceOf('ingest.events', record));
          break;
        }
      }
    return concerned;
  }

  async function load(leads: readonly LeadName[]): Promise<Map<string, KnownLead | null>> {
    const names = new Map(leads.map((lead) => [nameOf(lead), lead]));
    const inHand = new Map<string, KnownLead>();
    for (const name of names.keys()) {
      const known = unwritten.get(name) ?? beingWritten.get(name);
      if (known) inHand.set(name, known);
    }
    const others = [...names.keys()].filter((name) => !inHand.has(name));
    const loaded = await cache.load(others, async (missing) => {
      const byKey = new Map<string, [string, LeadName]>();
      const keys = missing.flatMap((name) => {
        const lead = names.get(name);
        if (!lead) return [];
        const key = leadKey(lead.ou_id, lead.lead_id);
        byKey.set(keyOf(key), [name, lead]);
        return [key];
      });
      const found: [string, KnownLead][] = [];
      for (const document of await findByIds(storedStates, keys)) {
        const [name, lead] = byKey.get(keyOf(document._id)) ?? [];
        if (name !== undefined && lead)
          found.push([name, { state: toLeadState(document, lead), offset: document.offset }]);
      }
      return found;
    });
    return new Map([...loaded, ...inHand]);
  }

  /** The firings in full, in their order, each with a record of its lead. */
  async function described(fired: readonly Fired[], accounts: AccountsOfBatch) {
    // Until scoring has told of a deletion, what it told of the lead may be of the one that was deleted.
    const causes = [...new Map(fired.map((one) => [one.because, one])).values()].filter(
      ({ isExplained }) => isExplained,
    );
    const found = await accounts.of(causes.map(({ because, seen }) => ({ ...because, seen })));
    const accountOf = new Map(causes.map(({ because }, index) => [because, found[index] ?? null]));
    const versions = new Map<string, number>();
    for (const account of found)
      if (account) {
        const { ou_id, configuration_version } = account;
        versions.set(ou_id, Math.max(configuration_version, versions.get(ou_id) ?? 0));
      }
    const configurations = await explanations.configurations(versions);
    return fired.map(({ draft, because }) => {
      const account = accountOf.get(because) ?? null;
      const description = describe(because, account, configurations.get(because.ou_id));
      return { event: describeFiring(draft, description), lead_seen_in: description.seen_in };
    });
  }

  return {
    decide: async (incoming) => {
      decidedStates = new Map();
      const accounts = leadAccounts.begin();
      const concerned = await concernedBy(incoming);
      const before = await load([...concerned.values()]);
      const states = new Map<string, LeadState>();
      const drafts: (Omit<Fired, 'draft'> & { draft: FiringDraft })[] = [];
      let telling = 0;
      for (const record of incoming) {
        accounts.see(record);
        const because = concerned.get(record);
        if (!because) continue;
        const name = nameOf(because);
        const state =
          states.get(name) ?? before.get(name)?.state ?? initialLeadState(because.ou_id, because.lead_id);
        const decision = because.decide(state);
        states.set(name, decision.state);
        const last = decision.events.at(-1);
        if (last) decidedStates.set(last.payload, decision.state);
        const isKnown = because.source.topic === 'scoring.events' || isExplained(state);
        for (const draft of decision.events) {
          drafts.push({ draft, because, seen: accounts.now(because), isExplained: isKnown });
          if (isFired(draft)) telling += 1 + draft.payload.channel_ids.length;
        }
        refuse(telling > maximumTold && incoming.length > 1);
      }
      const happening = drafts.map(({ draft }) => draft);
      if (happening.some(isForgetting)) await beingTold;
      const forgettings = await forgettingsOf(readModel, happening);
      for (const { length } of forgettings.values()) telling += length;
      refuse(telling > maximumTold && incoming.length > 1);
      const fired = drafts.flatMap(({ draft, ...one }) => (isFired(draft) ? [{ ...one, draft }] : []));
      const told = fired.length > 0 ? await described(fired, accounts) : [];
      const commands: OutgoingRecord[] = [];
      let next = 0;
      const events = drafts.map(({ draft }) => {
        if (!isFired(draft)) {
          for (const command of forgettings.get(draft.payload) ?? [])
            commands.push(outgoing(records.forgetLead, { key: command.channel_id, payload: command }));
          return eventRecord(draft);
        }
        const firing = told[next];
        next += 1;
        if (!firing) throw new Error('a firing was not described');
        const { event, lead_seen_in } = firing;
        // A link takes longer to make than all else of a firing.
        const isTold = event.payload.channel_ids.length > 0;
        const link = (isTold ? shareLinks?.of(event.payload.firing_id) : undefined) ?? null;
        const requests = requestsOf(event, link);
        for (const request of requests)
          commands.push(outgoing(records.requestNotification, { key: request.channel_id, payload: request }));
        if (link) {
          const share = shareOf(event, lead_seen_in, link);
          commands.push(outgoing(records.createShare, { key: share.share_id, payload: share }));
        }
        return eventRecord(event);
      });
      accounts.keep();
      return { events, commands };
    },

    fold: async (incoming) => {
      const happened = incoming.flatMap((record) => {
        const event = firingEventOf(record);
        return event ? [{ event, json: record.json, offset: offsetToNumber(record.offset) }] : [];
      });
      if (happened.length === 0) return;
      const before = await load(happened.map(({ event }) => event.payload));
      const changed = new Map<string, KnownLead>();
      // What a lead has folded already is stored, or was forgotten since: its state is written after.
      const news: typeof happened = [];
      const forgotten: { before: LeadState; topic: Source['topic']; offset: number }[] = [];
      for (const one of happened) {
        const { event, offset } = one;
        const { ou_id, lead_id, source } = event.payload;
        const name = nameOf(event.payload);
        const known = changed.get(name) ?? before.get(name);
        if (known && known.offset >= offset) continue;
        const state = known?.state ?? initialLeadState(ou_id, lead_id);
        if (event.type === 'LeadForgotten') forgotten.push({ before: state, topic: source.topic, offset });
        changed.set(name, { state: decidedStates.get(event.payload) ?? evolveLead(state, event), offset });
        news.push(one);
      }
      for (const { event, json, offset } of news)
        if (isFired(event)) untold.firings.push(toFiredDocument(event, json, partition));
        else if (event.type === 'TriggerSuppressed')
          untold.suppressions.push(toSuppressionDocument(event.payload, { partition, offset }));
      await tell();
      if (forgotten.length > 0) {
        await beingTold;
        await deleteFirings(
          readModel,
          news.map(({ event }) => event),
        );
        await deleteSuppressions(readModel, forgotten);
      }
      for (const [name, known] of changed) {
        const isNew = unwritten.get(name)?.isNew ?? !before.get(name);
        unwritten.set(name, { ...known, isNew });
      }
      if (unwritten.size > maximumUnwritten) {
        haste.abort();
        await writes;
        // What is not written stays unwritten, and fails whoever stores next.
        write(new AbortController().signal).catch(() => undefined);
      }
    },

    write,

    reset: async (touch) => {
      await beingTold;
      await deletePartition(readModel, leadStates, partition, touch);
      await deletePartition(readModel, firedEvents, partition, touch);
      await deletePartition(readModel, suppressions, partition, touch);
      unwritten.clear();
      cache.clear();
    },

    clear: () => {
      cache.clear();
    },

    close: async () => {
      haste.abort();
      await Promise.allSettled([writes, beingTold]);
    },
  };
}

function told({ ou_id, lead_id, aliases, fields }: records.LeadScored | records.EventsIngested) {
  return { ou_id, lead_id, aliases, fields };
}

type TakenByFiring = NonNullable<ReturnType<typeof takenByFiring>>;

function takenByFiring(record: IncomingRecord) {
  return (
    takenOf('scoring.events', firingInputs['scoring.events'], record) ??
    takenOf('ingest.events', firingInputs['ingest.events'], record)
  );
}

function sourceOf(topic: Source['topic'], { partition, offset }: IncomingRecord): Source {
  return { topic, partition, offset: offsetToNumber(offset) };
}

/** @param configuration scoring's, as it is known by now: says what rules and levels are */
function describe(
  because: Concerned,
  account: LeadAccount | null,
  configuration: ScoringConfiguration | undefined,
): Description {
  const { aliases, source } = because;
  if (!account || !configuration)
    return {
      ...knownIn(because),
      aliases,
      score: 0,
      top_drivers: [],
      levels: [],
      seen_in: { topic: source.topic, offset: source.offset },
    };
  return {
    name: shownName(account),
    ...valuesOf(account.given),
    aliases,
    score: account.score,
    top_drivers: driversOf(account.contributions, configuration).map(driver),
    levels: configuration.levels,
    // Events may be decided on before scoring knows their lead, and after it knew another one of this id.
    seen_in: {
      topic: 'scoring.events',
      offset: source.topic === 'scoring.events' ? source.offset : account.offset,
    },
  };
}

/** Of a lead that is not folded yet. */
function knownIn({ fields, aliases, lead_id }: Concerned): Pick<Description, 'name'> & ToldFields {
  const given = withLeadFields({}, fields ?? []);
  return { name: given.name?.value ?? aliases[0]?.alias ?? lead_id, ...valuesOf(given) };
}

function valuesOf({ company, title, owner }: LeadFields): ToldFields {
  return {
    ...(company && { company: company.value }),
    ...(title && { title: title.value }),
    ...(owner && { owner: owner.value }),
  };
}

const maximumLabel = 200;

function driver({
  rule_id,
  event_type,
  count,
  weight,
  total,
  label,
  filter_label,
}: {
  rule_id: string;
  event_type: string;
  count: number;
  weight: number;
  total: number;
  label?: string | undefined;
  filter_label?: string | undefined;
}): Description['top_drivers'][number] {
  return {
    rule_id,
    event_type,
    count,
    weight,
    total,
    ...(filter_label !== undefined && { filter_label: shortened(filter_label) }),
    ...(label !== undefined && { label: shortened(label) }),
  };
}

function shortened(text: string): string {
  return text.length <= maximumLabel ? text : `${text.slice(0, maximumLabel - 1).toWellFormed()}…`;
}

function eventRecord({ type, payload }: FiringEvent): OutgoingRecord {
  return outgoing(firingRecords[type], { key: payload.lead_id, payload });
}
