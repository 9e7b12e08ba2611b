// What the ingest service knows of one partition: decides incoming events with it, and folds its own events into it.
import { records } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  takenOf,
  type Checkpoint,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type PartitionState,
} from '@lead-scoring/event-log';
import {
  binaryToUuid,
  createCheckpoints,
  createGuardedWriter,
  deleteByIds,
  deletePartition,
  findByIds,
  insertMissing,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { knownEventId, readRecordOffset, recordIdsBefore, recordIdsOf } from './events/keys.js';
import {
  eventRecords,
  eventSeconds,
  knownEvents,
  payloadOf,
  type KnownEventDocument,
} from './events/model.js';
import { createEventProjection, createProjectionMemory, type FoldedEvents } from './events/project.js';
import { EventTypeFold, type EventTypeShare } from './event-types/fold.js';
import { eventTypeDocumentId, eventTypes, toDocument, toShare } from './event-types/model.js';
import { ingestInputs } from './inputs.js';
import {
  addForeign,
  decideIntake,
  possibleClaimers,
  possibleDeletions,
  possibleRepeats,
  type StoredRepeats,
} from './intake/decide.js';
import type { IntakeCommand, IntakeEvent } from './intake/events.js';
import { aliasCounts, openAliasCounts, type CountChange } from './intake/alias-counts.js';
import { openKnownAliases, type KnownAliasLimits } from './intake/known-aliases.js';
import {
  claimId,
  claimIdsOf,
  claims,
  deletionDocument,
  deletions,
  redirectDocument,
  redirects,
  type ClaimDocument,
  type RedirectDocument,
} from './intake/model.js';
import { type HeldLead, type LookedUpAliases } from './intake/state.js';
import { readBodies } from './repeats/bodies.js';
import {
  droppedRepeats,
  refusedAliases,
  refusedDocument,
  repeatsDocument,
  type DroppedRepeatsDocument,
  type RefusedAliasesDocument,
} from './repeats/model.js';

export const processorName = 'ingest';
export const ingestCollections = [
  eventRecords,
  eventSeconds,
  knownEvents,
  eventTypes,
  redirects,
  claims,
  deletions,
  aliasCounts,
  droppedRepeats,
  refusedAliases,
];

/** Event type statistics that a partition has in hand. */
const maximumOpenTypes = 5_000;
/** Records of a deleted lead that are in hand at a time; each holds up to 1,000 events. */
const recordsDeletedAtOnce = 50;
/** What goes along with a command that another partition is to answer. */
const headersPassedOn = ['id', 'ou', 'actor', 'correlation-id', 'reply-to'] as const;

interface OpenType {
  fold: EventTypeFold;
  /** Offset of the last event folded. */
  offset: number;
  isNew: boolean;
}

export interface PartitionOptions {
  /** How many aliases the leads of an OU may have claimed in this partition; no limit unless it is set. */
  aliasShare?: number;
  /** How many redirects and claims are in hand, where not as usual. */
  knownAliases?: KnownAliasLimits;
}

export async function openPartition(
  readModel: ReadModel,
  partition: number,
  { aliasShare, knownAliases }: PartitionOptions = {},
): Promise<PartitionState> {
  const storedRecords = readModel.collection(eventRecords);
  const storedKnown = readModel.collection(knownEvents);
  const storedTypes = readModel.collection(eventTypes);
  const storedRedirects = readModel.collection(redirects);
  const storedClaims = readModel.collection(claims);
  const storedDeletions = readModel.collection(deletions);
  const writer = createGuardedWriter(readModel);
  const checkpoints = createCheckpoints(readModel);
  const memory = createProjectionMemory();
  const projection = createEventProjection(readModel, partition, memory);
  const aliases = await openKnownAliases(readModel, partition, knownAliases);
  const counts = openAliasCounts(readModel, partition);
  const openTypes = new Map<string, OpenType>();

  /** The next offset after the last event: what a reader of ingest.events must have reached to have seen all. */
  let eventsEnd = (await checkpoints.load(processorName, partition)).positions['ingest.events'] ?? 0n;

  async function storedAmong(candidates: readonly { lead_id: string; id: string }[]): Promise<StoredRepeats> {
    const found = await findByIds(
      storedKnown,
      candidates.map(({ lead_id, id }) => knownEventId(lead_id, id)),
    );
    // Of an event that comes for the first time nothing is found, and nothing more is read.
    return found.length === 0 ? new Map() : readBodies(readModel, found);
  }

  async function heldOf(
    leadIds: readonly string[],
    { claims: claimed }: Pick<LookedUpAliases, 'claims'>,
  ): Promise<Map<string, HeldLead>> {
    const held = new Map<string, HeldLead>();
    if (leadIds.length === 0) return held;
    await withClassifiedErrors(async () => {
      const found = await findByIds(storedDeletions, leadIds.map(uuidToBinary));
      const deletionIds = new Map(found.map(({ _id, deletion_id }) => [binaryToUuid(_id), deletion_id]));
      for (const leadId of leadIds) {
        const first = await storedRecords.findOne(
          { _id: recordIdsOf(leadId) },
          { projection: { _id: 0, ou: 1 } },
        );
        const foreign = new Map<string, string[]>();
        // Without a claim, nothing was ever redirected here.
        if (claimed.has(leadId))
          for await (const document of storedRecords.find({ _id: recordIdsOf(leadId) }))
            addForeign(foreign, payloadOf(document));
        held.set(leadId, {
          ou_id: first && binaryToUuid(first.ou),
          deletion_id: deletionIds.get(leadId) ?? null,
          foreign,
        });
      }
    });
    return held;
  }

  async function foldSection({ ingested, others, deleted }: Section): Promise<void> {
    if (ingested.length > 0)
      await Promise.all([projection.fold(ingested, leadsOf(deleted)), foldTypes(ingested)]);
    await Promise.all([foldAliases(others), foldBatchCounts(others)]);
    if (deleted.length > 0) await foldDeletions(deleted, ingested);
  }

  /**
   * First the statistics, for which the lead's events are needed, then the order of time, then the records by which
   * both are found: after a crash at any point the same again comes to the same end.
   */
  async function foldDeletions(
    deleted: readonly DeletedLead[],
    ingested: readonly FoldedEvents[],
  ): Promise<void> {
    const leadIds = leadsOf(deleted);
    const subtracted: Subtracted[] = [];
    for (const leadId of leadIds) {
      const first = deleted.find(({ payload }) => payload.lead_id === leadId);
      if (!first) continue;
      const passing = ingested.filter(({ payload }) => payload.lead_id === leadId);
      subtracted.push({ offset: first.offset, shares: await sharesOf(first, passing) });
    }
    await subtractTypes(subtracted);
    for (const { payload, offset } of deleted) {
      const passing = ingested.filter((one) => one.payload.lead_id === payload.lead_id);
      await projection.removeFromTime(passing, offset);
      await deleteEvents(payload.lead_id, offset);
      const claimed = await aliases.claimsOf(payload.lead_id);
      // Before the claims go: from them it is known how many there were.
      if (claimed.length > 0) await counts.fold([{ ou_id: payload.ou_id, by: -claimed.length, offset }]);
      await withClassifiedErrors(async () => {
        await storedClaims.deleteMany({ _id: claimIdsOf(payload.lead_id) });
        await storedRedirects.deleteMany({ _id: uuidToBinary(payload.lead_id), offset: { $lt: offset } });
      });
      aliases.deleted(payload.lead_id, claimed);
    }
    await writer.write(
      storedDeletions,
      deleted.map(({ payload, offset }) => deletionDocument(payload, { partition, offset })),
    );
  }

  /** What a deleted lead's events have added to the statistics, those included that come just before the deletion. */
  async function sharesOf(
    { payload: { ou_id, lead_id }, offset: end }: DeletedLead,
    passing: readonly FoldedEvents[],
  ): Promise<EventTypeShare[]> {
    const folds = new Map<string, EventTypeFold>();
    const add = ({ events, aliases: named }: records.EventsIngested) => {
      for (const event of events) {
        const typeKey = memory.typeKeyOf(event.event_type);
        const fold = folds.get(typeKey) ?? new EventTypeFold(ou_id, typeKey, null);
        folds.set(typeKey, fold);
        fold.add(event, named);
      }
    };
    const added = new Set<number>();
    for (const { payload, offset } of passing) {
      add(payload);
      added.add(offset);
    }
    await withClassifiedErrors(async () => {
      for await (const document of storedRecords.find({ _id: recordIdsBefore(lead_id, end) }))
        if (!added.has(readRecordOffset(document._id))) add(payloadOf(document));
    });
    return [...folds.values()].map((fold) => fold.share());
  }

  async function deleteEvents(leadId: string, end: number): Promise<void> {
    for (;;) {
      const found = await withClassifiedErrors(() =>
        storedRecords
          .find({ _id: recordIdsBefore(leadId, end) })
          .limit(recordsDeletedAtOnce)
          .toArray(),
      );
      await projection.removeFromTime(
        found.map((document) => ({ payload: payloadOf(document), offset: readRecordOffset(document._id) })),
        end,
      );
      await deleteByIds(
        storedRecords,
        found.map(({ _id }) => _id),
      );
      if (found.length < recordsDeletedAtOnce) return;
    }
  }

  async function foldTypes(ingested: readonly FoldedEvents[]): Promise<void> {
    const wanted = new Map<string, { ouId: string; typeKey: string }>();
    for (const { payload } of ingested)
      for (const { event_type } of payload.events) {
        const typeKey = memory.typeKeyOf(event_type);
        wanted.set(typeId(payload.ou_id, typeKey), { ouId: payload.ou_id, typeKey });
      }
    await openMissingTypes(wanted);
    const changed = new Set<string>();
    for (const { payload, offset } of ingested) {
      const grown = new Set<OpenType>();
      for (const event of payload.events) {
        const id = typeId(payload.ou_id, memory.typeKeyOf(event.event_type));
        const open = openTypes.get(id);
        // Folded already, before a crash.
        if (!open || open.offset >= offset) continue;
        open.fold.add(event, payload.aliases);
        grown.add(open);
        changed.add(id);
      }
      for (const open of grown) open.offset = offset;
    }
    await writeTypes(changed);
  }

  async function subtractTypes(subtracted: readonly Subtracted[]): Promise<void> {
    const wanted = new Map<string, { ouId: string; typeKey: string }>();
    for (const { ou_id, key } of subtracted.flatMap(({ shares }) => shares))
      wanted.set(typeId(ou_id, key), { ouId: ou_id, typeKey: key });
    await openMissingTypes(wanted);
    const changed = new Set<string>();
    for (const { offset, shares } of subtracted)
      for (const share of shares) {
        const id = typeId(share.ou_id, share.key);
        const open = openTypes.get(id);
        if (!open || open.offset >= offset) continue;
        open.fold.subtract(share);
        open.offset = offset;
        changed.add(id);
      }
    await writeTypes(changed);
  }

  async function writeTypes(changed: ReadonlySet<string>): Promise<void> {
    const opened = [...changed].flatMap((id) => openTypes.get(id) ?? []);
    const fresh = new Set<object>();
    const documents = opened.map((open) => {
      const document = toDocument(open.fold.share(), { partition, offset: open.offset });
      if (open.isNew) fresh.add(document);
      return document;
    });
    await writer.write(storedTypes, documents, { isNew: (document) => fresh.has(document) });
    for (const open of opened) open.isNew = false;
  }

  async function openMissingTypes(
    wanted: ReadonlyMap<string, { ouId: string; typeKey: string }>,
  ): Promise<void> {
    const missing = [...wanted].filter(([id]) => !openTypes.has(id));
    if (missing.length === 0) return;
    if (openTypes.size + missing.length > maximumOpenTypes)
      for (const id of openTypes.keys()) if (!wanted.has(id)) openTypes.delete(id);
    const ids = missing.map(([, { ouId, typeKey }]) => eventTypeDocumentId(ouId, typeKey, partition));
    const found = await findByIds(storedTypes, ids);
    const stored = new Map(found.map((document) => [document._id.toString('hex'), document]));
    missing.forEach(([id, { ouId, typeKey }], index) => {
      const document = stored.get(ids[index]?.toString('hex') ?? '');
      openTypes.set(id, {
        fold: new EventTypeFold(ouId, typeKey, document ? toShare(document) : null),
        offset: document?.offset ?? -1,
        isNew: !document,
      });
    });
  }

  async function foldBatchCounts(folded: readonly FoldedRecord[]): Promise<void> {
    const repeats: DroppedRepeatsDocument[] = [];
    const refused: RefusedAliasesDocument[] = [];
    for (const record of folded) {
      const at = { partition, offset: offsetToNumber(record.offset) };
      if (isRecord(record, records.repeatsDropped)) repeats.push(repeatsDocument(record.payload, at));
      else if (isRecord(record, records.aliasesRefused)) refused.push(refusedDocument(record.payload, at));
    }
    if (repeats.length > 0) await insertMissing(readModel.collection(droppedRepeats), repeats);
    if (refused.length > 0) await insertMissing(readModel.collection(refusedAliases), refused);
  }

  async function foldAliases(folded: readonly FoldedRecord[]): Promise<void> {
    const claimed: ClaimDocument[] = [];
    const changes: CountChange[] = [];
    const linked: RedirectDocument[] = [];
    const known: KnownEventDocument[] = [];
    for (const record of folded) {
      const at = { partition, offset: offsetToNumber(record.offset) };
      if (isRecord(record, records.aliasClaimed)) {
        const { ou_id, lead_id, alias_lead_id } = record.payload;
        claimed.push({ _id: claimId(lead_id, alias_lead_id), ou: uuidToBinary(ou_id), partition });
        changes.push({ ou_id, by: 1, offset: at.offset });
      } else if (isRecord(record, records.aliasLinked)) linked.push(redirectDocument(record.payload, at));
      else if (isRecord(record, records.eventsRemembered))
        for (const id of record.payload.event_ids)
          known.push({ _id: knownEventId(record.payload.lead_id, id), partition });
    }
    if (known.length > 0) await insertMissing(storedKnown, known);
    if (claimed.length > 0) await Promise.all([insertMissing(storedClaims, claimed), counts.fold(changes)]);
    if (linked.length > 0) await writer.write(storedRedirects, linked);
    for (const record of folded)
      if (isRecord(record, records.aliasClaimed))
        aliases.claimed(record.payload.lead_id, record.payload.alias_lead_id);
      else if (isRecord(record, records.aliasLinked))
        aliases.redirected(record.payload.alias_lead_id, {
          lead_id: record.payload.lead_id,
          alias: record.payload.alias,
        });
  }

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    decide: async (incoming: IncomingRecord[]): Promise<Decision> => {
      const commands: IntakeCommand[] = [];
      const asked = new Map<IntakeCommand, IncomingRecord>();
      for (const record of incoming) {
        const command: IntakeCommand | null = takenOf(
          'ingest.commands',
          ingestInputs['ingest.commands'],
          record,
        );
        if (!command) continue;
        commands.push(command);
        if (command.type === 'DeleteLead') asked.set(command, record);
      }
      const [repeated, known, counted] = await Promise.all([
        storedAmong(possibleRepeats(commands)),
        aliases.lookUp(commands),
        counts.lookUp(possibleClaimers(commands)),
      ]);
      const held = await heldOf(possibleDeletions(commands), known);
      const state = { ...known, counts: counted };
      const decision = decideIntake(commands, state, repeated, held, aliasShare);
      return {
        events: decision.events.map(eventRecord),
        isRepeat:
          decision.commands.length === 0 && decision.events.every(({ type }) => type === 'RepeatsDropped'),
        commands: decision.commands.map(({ lead_id, command, answers }) =>
          commandRecord(lead_id, command, answers && asked.get(answers)),
        ),
        replies: decision.replies.flatMap(({ to, reply }) => {
          const record = asked.get(to);
          return record ? [{ to: record, reply }] : [];
        }),
      };
    },
    fold: async (folded: FoldedRecord[]): Promise<void> => {
      try {
        for (const section of sectionsOf(folded)) await foldSection(section);
        const last = folded.at(-1);
        if (last && last.offset >= eventsEnd) eventsEnd = last.offset + 1n;
      } catch (error) {
        // What is in hand may be ahead of what is stored; the same fold again starts from what is stored.
        openTypes.clear();
        projection.clear();
        throw error;
      }
    },
    // The checkpoint's own offset may lie beyond the end of a transaction, where no event ever comes.
    store: ({ offset, positions }: Checkpoint) =>
      checkpoints.store(processorName, partition, {
        offset,
        positions: { ...positions, 'ingest.events': eventsEnd },
      }),
    reset: async (touch) => {
      await checkpoints.reset(processorName, partition);
      // One after the other: each may be a long deletion.
      await deletePartition(readModel, eventRecords, partition, touch);
      await deletePartition(readModel, eventSeconds, partition, touch);
      await deletePartition(readModel, knownEvents, partition, touch);
      await deletePartition(readModel, eventTypes, partition, touch);
      await deletePartition(readModel, redirects, partition, touch);
      await deletePartition(readModel, claims, partition, touch);
      await deletePartition(readModel, deletions, partition, touch);
      await deletePartition(readModel, aliasCounts, partition, touch);
      await deletePartition(readModel, droppedRepeats, partition, touch);
      await deletePartition(readModel, refusedAliases, partition, touch);
      eventsEnd = 0n;
      openTypes.clear();
      projection.clear();
      aliases.clear();
      counts.clear();
    },
  };
}

interface DeletedLead {
  payload: records.LeadDeleted;
  offset: number;
}

/** What is folded together: deletions come last, and what follows them is folded after them. */
interface Section {
  ingested: FoldedEvents[];
  others: FoldedRecord[];
  deleted: DeletedLead[];
}

/** What a deleted lead's events have added, and where on the log that is taken out again. */
interface Subtracted {
  offset: number;
  shares: EventTypeShare[];
}

function sectionsOf(folded: readonly FoldedRecord[]): Section[] {
  let open: Section = { ingested: [], others: [], deleted: [] };
  const sections = [open];
  for (const record of folded) {
    const isDeletion = isRecord(record, records.leadDeleted);
    if (isDeletion) {
      open.deleted.push({ payload: record.payload, offset: offsetToNumber(record.offset) });
      continue;
    }
    if (open.deleted.length > 0) {
      open = { ingested: [], others: [], deleted: [] };
      sections.push(open);
    }
    if (isRecord(record, records.eventsIngested))
      open.ingested.push({
        payload: record.payload,
        json: record.json,
        offset: offsetToNumber(record.offset),
      });
    else open.others.push(record);
  }
  return sections;
}

function leadsOf(deleted: readonly DeletedLead[]): Set<string> {
  return new Set(deleted.map(({ payload }) => payload.lead_id));
}

function typeId(ouId: string, typeKey: string): string {
  return `${ouId}${typeKey}`;
}

function eventRecord(event: IntakeEvent): OutgoingRecord {
  switch (event.type) {
    case 'EventsIngested':
      return outgoing(records.eventsIngested, { key: event.payload.lead_id, payload: event.payload });
    case 'AliasClaimed':
      return outgoing(records.aliasClaimed, { key: event.payload.lead_id, payload: event.payload });
    case 'AliasLinked':
      return outgoing(records.aliasLinked, { key: event.payload.alias_lead_id, payload: event.payload });
    case 'LeadDeleted':
      return outgoing(records.leadDeleted, { key: event.payload.lead_id, payload: event.payload });
    case 'EventsRemembered':
      return outgoing(records.eventsRemembered, { key: event.payload.lead_id, payload: event.payload });
    case 'RepeatsDropped':
      return outgoing(records.repeatsDropped, { key: event.payload.lead_id, payload: event.payload });
    case 'AliasesRefused':
      return outgoing(records.aliasesRefused, { key: event.payload.lead_id, payload: event.payload });
  }
}

/** @param answers the record whose sender the other partition is to answer */
function commandRecord(
  leadId: string,
  { type, payload }: IntakeCommand,
  answers: IncomingRecord | undefined,
): OutgoingRecord {
  const headers = answers && passedOn(answers);
  const to = { key: leadId, ...(headers && { headers }) };
  switch (type) {
    case 'IngestEvents':
      return outgoing(records.ingestEvents, { ...to, payload });
    case 'LinkAlias':
      return outgoing(records.linkAlias, { ...to, payload });
    case 'DeleteLead':
      return outgoing(records.deleteLead, { ...to, payload });
    case 'UnlinkAlias':
      return outgoing(records.unlinkAlias, { ...to, payload });
    case 'RememberEvents':
      return outgoing(records.rememberEvents, { ...to, payload });
  }
}

function passedOn({ headers }: IncomingRecord): Record<string, string> {
  return Object.fromEntries(
    headersPassedOn.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
