// What the ingest service knows of one partition: decides incoming events with it, and folds its own events into it.
import { records } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
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
  deletePartition,
  findByIds,
  findStoredIds,
  insertMissing,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { knownEventId, readKnownEventId } from './events/keys.js';
import { eventRecords, knownEvents, places } from './events/model.js';
import { addStoredEvents, createProjectionMemory, type StoredEvents } from './events/project.js';
import { EventTypeFold } from './event-types/fold.js';
import { eventTypeDocumentId, eventTypes, toDocument, toShare } from './event-types/model.js';
import { decideIntake, possibleRepeats } from './intake/decide.js';
import type { IntakeCommand, IntakeEvent } from './intake/events.js';
import { evolveAliases } from './intake/evolve.js';
import {
  claims,
  redirectDocument,
  redirects,
  type ClaimDocument,
  type RedirectDocument,
} from './intake/model.js';
import { claimKey, emptyAliasState, eventKey } from './intake/state.js';

export const processorName = 'ingest';
export const ingestCollections = [eventRecords, places, knownEvents, eventTypes, redirects, claims];

/** Event type statistics that a partition has in hand. */
const maximumOpenTypes = 5_000;

interface OpenType {
  fold: EventTypeFold;
  /** Offset of the last event folded. */
  offset: number;
  isNew: boolean;
}

export async function openPartition(readModel: ReadModel, partition: number): Promise<PartitionState> {
  const storedRecords = readModel.collection(eventRecords);
  const storedPlaces = readModel.collection(places);
  const storedKnown = readModel.collection(knownEvents);
  const storedTypes = readModel.collection(eventTypes);
  const storedRedirects = readModel.collection(redirects);
  const storedClaims = readModel.collection(claims);
  const writer = createGuardedWriter(readModel);
  const checkpoints = createCheckpoints(readModel);
  const memory = createProjectionMemory();
  const aliases = emptyAliasState();
  const openTypes = new Map<string, OpenType>();

  /** The next offset after the last event: what a reader of ingest.events must have reached to have seen all. */
  let eventsEnd = (await checkpoints.load(processorName, partition)).positions['ingest.events'] ?? 0n;

  await withClassifiedErrors(async () => {
    for await (const { _id, lead_id, alias_kind, alias } of storedRedirects.find({ partition }))
      aliases.redirects.set(binaryToUuid(_id), { lead_id, alias: { alias_kind, alias } });
    for await (const { _id } of storedClaims.find({ partition })) aliases.claims.add(_id);
  });

  async function storedAmong(candidates: readonly { lead_id: string; id: string }[]): Promise<Set<string>> {
    const found = await findStoredIds(
      storedKnown,
      candidates.map(({ lead_id, id }) => knownEventId(lead_id, id)),
    );
    return new Set(
      found.map((key) => {
        const { lead_id, id } = readKnownEventId(key);
        return eventKey(lead_id, id);
      }),
    );
  }

  async function foldEvents(ingested: readonly Ingested[]): Promise<void> {
    const stored: StoredEvents = { records: [], places: [], known: [] };
    for (const { payload, json, offset } of ingested)
      addStoredEvents(stored, payload, json, { partition, offset }, memory);
    await Promise.all([
      insertMissing(storedRecords, stored.records),
      insertMissing(storedPlaces, stored.places),
      insertMissing(storedKnown, stored.known),
    ]);
  }

  async function foldTypes(ingested: readonly Ingested[]): Promise<void> {
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

  async function foldAliases(folded: readonly FoldedRecord[]): Promise<void> {
    const claimed: ClaimDocument[] = [];
    const linked: RedirectDocument[] = [];
    for (const record of folded) {
      const at = { partition, offset: offsetToNumber(record.offset) };
      if (isRecord(record, records.aliasClaimed))
        claimed.push({
          _id: claimKey(record.payload.lead_id, record.payload.alias_lead_id),
          ou: uuidToBinary(record.payload.ou_id),
          partition,
        });
      else if (isRecord(record, records.aliasLinked)) linked.push(redirectDocument(record.payload, at));
      else continue;
    }
    if (claimed.length > 0) await insertMissing(storedClaims, claimed);
    if (linked.length > 0) await writer.write(storedRedirects, linked);
    for (const record of folded) {
      const event = intakeEvent(record);
      if (event) evolveAliases(aliases, event);
    }
  }

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    decide: async (incoming: IncomingRecord[]): Promise<Decision> => {
      const commands = incoming.flatMap((record) => intakeCommand(record) ?? []);
      const repeated = await storedAmong(possibleRepeats(commands));
      const decision = decideIntake(commands, aliases, repeated);
      return {
        events: decision.events.map(eventRecord),
        commands: decision.commands.map(({ lead_id, command }) => commandRecord(lead_id, command)),
      };
    },
    fold: async (folded: FoldedRecord[]): Promise<void> => {
      const ingested = folded.flatMap((record) =>
        isRecord(record, records.eventsIngested)
          ? [{ payload: record.payload, json: record.json, offset: offsetToNumber(record.offset) }]
          : [],
      );
      try {
        if (ingested.length > 0) await Promise.all([foldEvents(ingested), foldTypes(ingested)]);
        await foldAliases(folded);
        const last = folded.at(-1);
        if (last && last.offset >= eventsEnd) eventsEnd = last.offset + 1n;
      } catch (error) {
        // What is in hand may be ahead of what is stored; the same fold again starts from what is stored.
        openTypes.clear();
        throw error;
      }
    },
    // The checkpoint's own offset may lie beyond the end of a transaction, where no event ever comes.
    store: ({ offset, positions }: Checkpoint) =>
      checkpoints.store(processorName, partition, {
        offset,
        positions: { ...positions, 'ingest.events': eventsEnd },
      }),
    reset: async () => {
      await checkpoints.reset(processorName, partition);
      // One after the other: each may be a long deletion.
      await deletePartition(readModel, eventRecords, partition);
      await deletePartition(readModel, places, partition);
      await deletePartition(readModel, knownEvents, partition);
      await deletePartition(readModel, eventTypes, partition);
      await deletePartition(readModel, redirects, partition);
      await deletePartition(readModel, claims, partition);
      eventsEnd = 0n;
      openTypes.clear();
      aliases.redirects.clear();
      aliases.claims.clear();
    },
  };
}

interface Ingested {
  payload: records.EventsIngested;
  /** The payload's own text. */
  json: Buffer;
  offset: number;
}

function typeId(ouId: string, typeKey: string): string {
  return `${ouId}${typeKey}`;
}

function intakeCommand(record: IncomingRecord): IntakeCommand | null {
  if (isRecord(record, records.ingestEvents)) return { type: 'IngestEvents', payload: record.payload };
  if (isRecord(record, records.linkAlias)) return { type: 'LinkAlias', payload: record.payload };
  return null;
}

function intakeEvent(record: FoldedRecord): IntakeEvent | null {
  if (isRecord(record, records.aliasClaimed)) return { type: 'AliasClaimed', payload: record.payload };
  if (isRecord(record, records.aliasLinked)) return { type: 'AliasLinked', payload: record.payload };
  return null;
}

function eventRecord(event: IntakeEvent): OutgoingRecord {
  switch (event.type) {
    case 'EventsIngested':
      return outgoing(records.eventsIngested, { key: event.payload.lead_id, payload: event.payload });
    case 'AliasClaimed':
      return outgoing(records.aliasClaimed, { key: event.payload.lead_id, payload: event.payload });
    case 'AliasLinked':
      return outgoing(records.aliasLinked, { key: event.payload.alias_lead_id, payload: event.payload });
  }
}

function commandRecord(leadId: string, command: IntakeCommand): OutgoingRecord {
  return command.type === 'IngestEvents'
    ? outgoing(records.ingestEvents, { key: leadId, payload: command.payload })
    : outgoing(records.linkAlias, { key: leadId, payload: command.payload });
}
