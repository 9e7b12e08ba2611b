// Stores organisations: each in documents of five collections, which hold the offset of the last event folded into them.
import type { AggregateStorage, ChangedState, StoredState } from '@lead-scoring/capability';
import {
  createGuardedWriter,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  documentChangedBy,
  documentsOf,
  members,
  organisations,
  orgUnits,
  serviceAccounts,
  tokens,
} from './documents.js';
import { evolve } from './evolve.js';
import type { IdentityEvent } from './messages.js';
import { emptyOrganisation, type Credential, type OrganisationState } from './state.js';

export interface GuardedOrganisation {
  readonly state: OrganisationState;
  /** The offset of the last event folded into each of the documents, by the id that `documentChangedBy` gives. */
  readonly offsets: ReadonlyMap<string, number>;
}

export const noOrganisation: GuardedOrganisation = { state: emptyOrganisation, offsets: new Map() };

/** @param offset null while the event is being decided and is not stored yet */
export function evolveGuarded(
  { state, offsets }: GuardedOrganisation,
  event: IdentityEvent,
  offset: number | null,
): GuardedOrganisation {
  return {
    state: evolve(state, event),
    offsets: offset === null ? offsets : new Map(offsets).set(documentChangedBy(event), offset),
  };
}

/** Whether an event is folded into the document that it changes. After a crash, some documents may be behind others. */
export function isFolded({ offsets }: GuardedOrganisation, event: IdentityEvent, offset: number): boolean {
  return (offsets.get(documentChangedBy(event)) ?? -1) >= offset;
}

type Changed = ChangedState<GuardedOrganisation, IdentityEvent>;

export const organisationStorage: AggregateStorage<GuardedOrganisation, IdentityEvent> = {
  collections: [organisations, orgUnits, members, tokens, serviceAccounts],
  isFolded: (stored, event, offset) => isFolded(stored.state, event, offset),
  open: (readModel, partition) => {
    const writer = createGuardedWriter(readModel);
    return {
      load: (ids) => loadOrganisations(readModel, ids),
      write: async (changed) => {
        for (const { key, state: guarded, events } of changed) {
          const documents = documentsOf(key, guarded.state, changedDocuments(events), partition);
          await writer.write(readModel.collection(organisations), documents.organisations);
          await writer.write(readModel.collection(orgUnits), documents.orgUnits);
          // Members before their tokens: a token without its member is not valid.
          await writer.write(readModel.collection(members), documents.members);
          await writer.write(readModel.collection(tokens), documents.tokens);
          await writer.write(readModel.collection(serviceAccounts), documents.serviceAccounts);
        }
      },
    };
  },
};

/** The offset of the last event of each document that the events change. */
function changedDocuments(events: Changed['events']): Map<string, number> {
  return new Map(events.map(({ event, offset }) => [documentChangedBy(event), offset]));
}

async function loadOrganisations(
  readModel: ReadModel,
  ids: readonly string[],
): Promise<Map<string, StoredState<GuardedOrganisation>>> {
  const loaded = await Promise.all(
    ids.map(async (id) => [id, await loadOrganisation(readModel, id)] as const),
  );
  return new Map(loaded.map(([id, state]) => [id, { state, offset: lastOf(state.offsets.values()) }]));
}

function lastOf(offsets: Iterable<number>): number {
  let last = -1;
  for (const offset of offsets) last = Math.max(last, offset);
  return last;
}

async function loadOrganisation(readModel: ReadModel, id: string): Promise<GuardedOrganisation> {
  const organisation_id = uuidToBinary(id);
  return withClassifiedErrors(async () => {
    const [organisation, units, memberDocuments, tokenDocuments, accountDocuments] = await Promise.all([
      readModel.collection(organisations).findOne({ _id: organisation_id }),
      readModel.collection(orgUnits).find({ organisation_id }).toArray(),
      readModel.collection(members).find({ organisation_id }).toArray(),
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
    for (const { value, offset } of [...units, ...memberDocuments]) offsets.set(value.id, offset);
    return {
      state: {
        organisation: organisation?.value ?? null,
        units: new Map(units.map(({ value }) => [value.id, value])),
        members: new Map(memberDocuments.map(({ value }) => [value.id, value])),
        credentials,
      },
      offsets,
    };
  });
}
