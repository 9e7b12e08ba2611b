// What the gateway's processor knows of one partition: organisations, decided on in memory and folded into MongoDB.
import { records, type JsonValue } from '@lead-scoring/contracts';
import {
  outgoing,
  takenOf,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type PartitionState,
  type Reply,
} from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  createStateCache,
  deletePartition,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { CommandSignature } from './command-signature.js';
import type { IdentityCommand } from './commands.js';
import { decide } from './decide.js';
import {
  documentChangedBy,
  documentsOf,
  organisations,
  orgUnits,
  serviceAccounts,
  tokens,
} from './documents.js';
import type { IdentityEvent } from './events.js';
import { evolve } from './evolve.js';
import { identityInputs } from './inputs.js';
import { emptyOrganisation, type Credential, type OrganisationState } from './state.js';

export const processorName = 'gateway';

/** An organisation with, for each of its documents, the offset of the last event folded into it. */
interface StoredOrganisation {
  state: OrganisationState;
  offsets: ReadonlyMap<string, number>;
}

const nothing: StoredOrganisation = { state: emptyOrganisation, offsets: new Map() };
const maximumOpenOrganisations = 200;

/** Told to operators with the dead letter, and to a gateway whose secret is another. */
const notSigned =
  "it is not signed with this system's TOKEN_SECRET: every gateway must have the same one, or have it as TOKEN_SECRET_PREVIOUS or TOKEN_SECRET_NEXT, and nothing else may write such commands";

const refusedUnsigned: records.CommandReplied = {
  outcome: 'rejected',
  code: 'service_unavailable',
  message: `The command was not carried out: ${notSigned}.`,
};

export function openIdentityPartition(
  readModel: ReadModel,
  partition: number,
  signature: CommandSignature,
): PartitionState {
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);
  const cache = createStateCache<StoredOrganisation>({ maximumEntries: maximumOpenOrganisations });

  const load = async (organisationIds: Iterable<string>): Promise<Map<string, StoredOrganisation>> => {
    const found = await cache.load(organisationIds, async (missing) =>
      Promise.all(missing.map(async (id) => [id, await loadOrganisation(readModel, id)] as const)),
    );
    return new Map([...found].map(([id, stored]) => [id, stored ?? nothing]));
  };

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    store: (checkpoint) => checkpoints.store(processorName, partition, checkpoint),

    decide: async (incoming: IncomingRecord[]): Promise<Decision> => {
      const commands: { record: IncomingRecord; command: IdentityCommand }[] = [];
      const deadLetters: NonNullable<Decision['deadLetters']> = [];
      const events: OutgoingRecord[] = [];
      const replies: Reply[] = [];
      for (const record of incoming) {
        const taken = takenOf('gateway.commands', identityInputs['gateway.commands'], record);
        if (!taken) continue;
        const command: IdentityCommand = { ...taken, id: taken.headers.id };
        if (signature.isSigned(record)) commands.push({ record, command });
        else {
          deadLetters.push({ record, reason: notSigned });
          replies.push({ to: record, reply: refusedUnsigned });
        }
      }
      const states = new Map<string, OrganisationState>();
      const stored = await load(commands.map(({ command }) => command.payload.organisation_id));
      for (const [id, { state }] of stored) states.set(id, state);
      for (const { record, command } of commands) {
        const { organisation_id } = command.payload;
        let state = states.get(organisation_id) ?? emptyOrganisation;
        const decision = decide(command, state);
        if (decision.outcome === 'rejected') {
          replies.push({ to: record, reply: decision });
          continue;
        }
        for (const event of decision.events) {
          state = evolve(state, event);
          events.push(recordOf(event, record));
        }
        states.set(organisation_id, state);
        replies.push({ to: record, reply: doneReply(decision.result) });
      }
      return { events, replies, deadLetters };
    },

    fold: async (folded: FoldedRecord[]): Promise<void> => {
      const events = folded.flatMap((record) => {
        const event = identityEventOf(record);
        return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
      });
      const stored = await load(events.map(({ event }) => event.payload.organisation_id));
      const changed = new Map<string, Map<string, number>>();
      for (const { event, offset } of events) {
        const { organisation_id } = event.payload;
        const { state, offsets } = stored.get(organisation_id) ?? nothing;
        const id = documentChangedBy(event);
        // Folded already, before a crash.
        if ((offsets.get(id) ?? -1) >= offset) continue;
        stored.set(organisation_id, {
          state: evolve(state, event),
          offsets: new Map(offsets).set(id, offset),
        });
        const ids = changed.get(organisation_id) ?? new Map<string, number>();
        changed.set(organisation_id, ids.set(id, offset));
      }
      try {
        for (const [organisationId, ids] of changed) {
          const { state } = stored.get(organisationId) ?? nothing;
          const documents = documentsOf(organisationId, state, ids, partition);
          await writer.write(readModel.collection(organisations), documents.organisations);
          await writer.write(readModel.collection(orgUnits), documents.orgUnits);
          await writer.write(readModel.collection(tokens), documents.tokens);
          await writer.write(readModel.collection(serviceAccounts), documents.serviceAccounts);
        }
      } catch (error) {
        // What is in hand is not ahead of what is stored as long as it is put in hand only afterwards.
        cache.clear();
        throw error;
      }
      for (const id of changed.keys()) cache.put(id, stored.get(id) ?? nothing);
    },

    reset: async (touch) => {
      await checkpoints.reset(processorName, partition);
      await deletePartition(readModel, organisations, partition, touch);
      await deletePartition(readModel, orgUnits, partition, touch);
      await deletePartition(readModel, tokens, partition, touch);
      await deletePartition(readModel, serviceAccounts, partition, touch);
      cache.clear();
    },
  };
}

async function loadOrganisation(readModel: ReadModel, id: string): Promise<StoredOrganisation> {
  const organisation_id = uuidToBinary(id);
  return withClassifiedErrors(async () => {
    const [organisation, units, tokenDocuments, accountDocuments] = await Promise.all([
      readModel.collection(organisations).findOne({ _id: organisation_id }),
      readModel.collection(orgUnits).find({ organisation_id }).toArray(),
      readModel.collection(tokens).find({ organisation_id }).toArray(),
      readModel.collection(serviceAccounts).find({ organisation_id }).toArray(),
    ]);
    const offsets = new Map<string, number>();
    if (organisation) offsets.set(id, organisation.offset);
    const credentials = new Map<string, Credential>();
    for (const { value, offset } of [...tokenDocuments, ...accountDocuments]) {
      credentials.set(value.id, value);
      offsets.set(value.id, offset);
    }
    for (const { value, offset } of units) offsets.set(value.id, offset);
    return {
      state: {
        organisation: organisation?.value ?? null,
        units: new Map(units.map(({ value }) => [value.id, value])),
        credentials,
      },
      offsets,
    };
  });
}

const eventDeclarations = {
  OrganisationCreated: records.organisationCreated,
  OrgUnitCreated: records.orgUnitCreated,
  OrgUnitRenamed: records.orgUnitRenamed,
  OrgUnitEnded: records.orgUnitEnded,
  ActiveOrgUnitSet: records.activeOrgUnitSet,
  OrgUnitGranted: records.orgUnitGranted,
  OrgUnitWithdrawn: records.orgUnitWithdrawn,
  TokenCreated: records.tokenCreated,
  TokenRevoked: records.tokenRevoked,
  ServiceAccountCreated: records.serviceAccountCreated,
  ServiceAccountSecretRotated: records.serviceAccountSecretRotated,
  ServiceAccountRevoked: records.serviceAccountRevoked,
} as const satisfies Record<IdentityEvent['type'], unknown>;

function identityEventOf(record: FoldedRecord): IdentityEvent | null {
  if (!Object.hasOwn(eventDeclarations, record.type)) return null;
  return {
    type: record.type,
    payload: record.payload,
    command_id: record.headers['causation-id'] ?? record.headers.id,
  } as IdentityEvent;
}

function recordOf(event: IdentityEvent, cause: IncomingRecord): OutgoingRecord {
  const { actor, 'correlation-id': correlationId } = cause.headers;
  return outgoing(eventDeclarations[event.type], {
    key: event.payload.organisation_id,
    payload: event.payload,
    headers: {
      'causation-id': event.command_id,
      ...(actor !== undefined && { actor }),
      ...(correlationId !== undefined && { 'correlation-id': correlationId }),
    },
  });
}

function doneReply(result: JsonValue | undefined): records.CommandReplied {
  return { outcome: 'done', ...(result !== undefined && { result }) };
}
