// The directory of credentials and OUs: the read side of identity that every request uses.
import {
  binaryToUuid,
  createBoundedCache,
  uuidToBinary,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { DatabaseGate } from '../database-gate.js';
import { members, orgUnits, serviceAccounts, tokens } from '../identity/documents.js';
import {
  builtInMember,
  builtInMemberId,
  memberIdOf,
  tokenWithin,
  type Member,
  type ServiceAccount,
  type Token,
} from '../identity/state.js';
import type { MeantCredential } from '../audit/refusal-model.js';
import { createFreshCache } from './fresh-cache.js';
import type { MemberRights, Revocations } from './revocations.js';

/** A token within what its member may do. */
export type KnownToken = Token & { organisation_id: string; member_id: string };
/** A member who has not been removed, as of now. */
export type KnownMember = Member & { organisation_id: string };
export type KnownServiceAccount = ServiceAccount & { organisation_id: string };

export interface CredentialDirectory {
  /** A token that has not been ended, of a member who has not been removed, by the hash of its secret. */
  token(hash: string, fresh?: boolean): Promise<KnownToken | null>;
  serviceAccount(clientId: string, fresh?: boolean): Promise<KnownServiceAccount | null>;
  /** The member with an address, in lower case. */
  member(organisationId: string, email: string, fresh?: boolean): Promise<KnownMember | null>;
  /** Whether the token was found by its last read; reads nothing itself. */
  hasToken(hash: string): boolean;
  hasServiceAccount(clientId: string): boolean;
  /** The credential that a look-up has just found to be ended, by the hash of its secret or its client id; reads nothing itself. */
  ended(key: string): MeantCredential | null;
  /** Ids of all OUs of an organisation that had not ended when they were read. */
  orgUnitIds(organisationId: string, fresh?: boolean): Promise<ReadonlySet<string>>;
  /** Whether an OU has ended according to the log, which this instance follows within seconds. */
  orgUnitEndedOnLog(ouId: string): boolean;
  /** Whether an OU of any organisation has ended, according to the log or the database. */
  orgUnitHasEnded(ouId: string): Promise<boolean>;
  /** Makes the next look-ups read anew, because this process has just changed something. */
  forget(): void;
}

/** A change in the database takes effect in all instances within this time; an end on the log at once. */
const maximumAgeMs = 3_000;
/**
 * While the database is away, requests of credentials that were read within this time are served. Those that have ended meanwhile
 * are refused, because the log records the end.
 */
const staleMs = 30 * 60_000;
/** Ended credentials that are remembered, to count what they are refused. */
const maximumEnded = 10_000;

/** The credential as refusals of it are counted. */
export function meantBy({
  kind,
  id,
  organisation_id: organisationId,
  ou_ids: ouIds,
}: Pick<KnownToken | KnownServiceAccount, 'kind' | 'id' | 'organisation_id' | 'ou_ids'>): MeantCredential {
  return { kind, id, organisationId, ouIds };
}

/**
 * @param readModel with a short timeout: requests wait for it
 * @param revocations the ends that the log records, which count before the database's last answer
 */
export function createCredentialDirectory(
  readModel: ReadModel,
  gate: DatabaseGate,
  revocations: Revocations,
): CredentialDirectory {
  const unlessEnded = <Credential extends { id: string }>(found: Credential | null): Credential | null =>
    found && revocations.has(found.id) ? null : found;
  const ended = new EndedCredentials(revocations);
  const common = { maximumAgeMs, staleMs, maximumEntries: 10_000 };
  const reads = new CredentialReads(readModel, gate, ended);
  const tokenCache = createFreshCache<TokenOfMember>({
    ...common,
    load: (hash) => reads.token(hash),
  });
  const accountCache = createFreshCache<KnownServiceAccount>({
    ...common,
    load: (clientId) => reads.serviceAccount(clientId),
  });
  const memberCache = createFreshCache<KnownMember>({
    ...common,
    load: (key) => reads.memberWithAddress(key),
  });
  const unitCache = createFreshCache<ReadonlySet<string>>({
    ...common,
    maximumEntries: 1_000,
    load: (organisationId) => reads.orgUnitIds(organisationId),
  });
  const endedCache = createFreshCache<{ ended: boolean }>({
    ...common,
    load: (ouId) => reads.orgUnitEnd(ouId),
  });
  return {
    token: async (hash, fresh) => {
      const found = await tokenCache.get(hash, fresh);
      const token = found && asOfNow(found, revocations.memberChange(found.known.member_id));
      return ended.unlessEnded(hash, token);
    },
    serviceAccount: async (clientId, fresh) =>
      ended.unlessEnded(clientId, await accountCache.get(clientId, fresh)),
    member: async (organisationId, email, fresh) => {
      const found = await memberCache.get(`${organisationId} ${email}`, fresh);
      const change = found && revocations.memberChange(found.id);
      return found && unlessEnded(change && change.version > found.version ? { ...found, ...change } : found);
    },
    hasToken: (hash) => tokenCache.has(hash),
    hasServiceAccount: (clientId) => accountCache.has(clientId),
    ended: (key) => ended.of(key),
    orgUnitIds: async (organisationId, fresh) => (await unitCache.get(organisationId, fresh)) ?? new Set(),
    orgUnitEndedOnLog: (ouId) => revocations.has(ouId),
    orgUnitHasEnded: async (ouId) => revocations.has(ouId) || (await endedCache.get(ouId))?.ended === true,
    forget: () => {
      tokenCache.clear();
      accountCache.clear();
      memberCache.clear();
      unitCache.clear();
      endedCache.clear();
    },
  };
}

/** The ended credentials that look-ups have found, by the key of the look-up: refusals of them are counted. */
class EndedCredentials {
  readonly #found = createBoundedCache<MeantCredential>({ maximumEntries: maximumEnded });

  constructor(private readonly revocations: Revocations) {}

  add(key: string, credential: Parameters<typeof meantBy>[0]): void {
    this.#found.set(key, meantBy(credential));
  }

  of(key: string): MeantCredential | null {
    return this.#found.get(key) ?? null;
  }

  /** The credential, unless it has ended on the log. */
  unlessEnded<Credential extends KnownToken | KnownServiceAccount>(
    key: string,
    credential: Credential | null,
  ): Credential | null {
    if (!credential || !this.revocations.has(credential.id)) return credential;
    this.add(key, credential);
    return null;
  }
}

/** A token as it was read: its own rights and those of its member. */
interface TokenOfMember {
  own: KnownToken;
  memberVersion: number;
  /** `own` within the rights of the member. */
  known: KnownToken;
}

/** A change of the member on the log counts when it is later than what was read. */
function asOfNow({ own, memberVersion, known }: TokenOfMember, change: MemberRights | undefined): KnownToken {
  return change === undefined || change.version <= memberVersion ? known : tokenWithin(own, change);
}

/** The directory's reads of the database. */
class CredentialReads {
  constructor(
    private readonly readModel: ReadModel,
    private readonly gate: DatabaseGate,
    private readonly ended: EndedCredentials,
  ) {}

  async token(hash: string): Promise<TokenOfMember | null> {
    const token = this.#unlessRevoked(
      hash,
      await this.gate.run(() => this.readModel.collection(tokens).findOne({ _id: hash })),
    );
    if (!token) return null;
    const own = { ...token, member_id: memberIdOf(token, token.organisation_id) };
    const member = await this.#member(own);
    if (!member || member.removed) {
      this.ended.add(hash, own);
      return null;
    }
    return { own, memberVersion: member.version, known: tokenWithin(own, member) };
  }

  /** @param key the id of the organisation, a space, and the address */
  async memberWithAddress(key: string): Promise<KnownMember | null> {
    const [organisationId = '', email = ''] = key.split(' ');
    const found = await this.gate.run(() =>
      this.readModel.collection(members).findOne({
        organisation_id: { $eq: uuidToBinary(organisationId) },
        'value.email': { $eq: email },
        'value.removed': { $eq: null },
      }),
    );
    return found && { ...found.value, organisation_id: organisationId };
  }

  async #member({ member_id, organisation_id, created_at }: KnownToken): Promise<Member | null> {
    const found = await this.gate.run(() =>
      this.readModel.collection(members).findOne({ _id: uuidToBinary(member_id) }),
    );
    if (found) return found.value;
    return member_id === builtInMemberId(organisation_id) ? builtInMember(organisation_id, created_at) : null;
  }

  async serviceAccount(clientId: string): Promise<KnownServiceAccount | null> {
    return this.#unlessRevoked(
      clientId,
      await this.gate.run(() =>
        this.readModel.collection(serviceAccounts).findOne({ _id: uuidToBinary(clientId) }),
      ),
    );
  }

  #unlessRevoked<Value extends Token | ServiceAccount>(
    key: string,
    document: { organisation_id: Binary; value: Value } | null,
  ): (Value & { organisation_id: string }) | null {
    if (!document) return null;
    const found = { ...document.value, organisation_id: binaryToUuid(document.organisation_id) };
    if (!document.value.revoked) return found;
    this.ended.add(key, found);
    return null;
  }

  /** The ids of the OUs that have not ended. */
  orgUnitIds(organisationId: string): Promise<ReadonlySet<string>> {
    return this.gate.run(async () => {
      const found = this.readModel
        .collection(orgUnits)
        .find(
          { organisation_id: uuidToBinary(organisationId), 'value.ended': { $exists: false } },
          { projection: { _id: 1 } },
        );
      return new Set((await found.toArray()).map(({ _id }) => binaryToUuid(_id)));
    });
  }

  async orgUnitEnd(ouId: string): Promise<{ ended: boolean }> {
    const found = await this.gate.run(() =>
      this.readModel.collection(orgUnits).findOne({ _id: uuidToBinary(ouId) }),
    );
    return { ended: found?.value.ended !== undefined };
  }
}
