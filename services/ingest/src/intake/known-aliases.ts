// What a partition knows of redirects and claims, however many there are: few are held whole, of many those that were asked
// for last, and the others are looked up, a batch at a time.
import {
  binaryToUuid,
  createStateCache,
  findByIds,
  findStoredIds,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { possibleClaims, possibleDeletions, possibleRedirects } from './decide.js';
import type { IntakeCommand } from './events.js';
import { claimId, claimIdsOf, claims, readClaimId, redirects } from './model.js';
import { addClaim, type AliasState, type LookedUpAliases, type Redirect } from './state.js';

export interface KnownAliases {
  /** What is to be known to decide on these. */
  lookUp(commands: readonly IntakeCommand[]): Promise<Omit<LookedUpAliases, 'counts'>>;
  /** The three that follow are told once what they tell is stored. */
  redirected(leadId: string, redirect: Redirect): void;
  claimed(leadId: string, aliasLeadId: string): void;
  /** @param claimed the leads whose aliases it had claimed */
  deleted(leadId: string, claimed: readonly string[]): void;
  /** The leads whose aliases a lead has claimed, as stored. */
  claimsOf(leadId: string): Promise<string[]>;
  /** Nothing is stored any more. */
  clear(): void;
}

export interface KnownAliasLimits {
  /** Of each, redirects and claims: up to so many are held whole, so that no batch looks for any. */
  heldWhole: number;
  /** Of each, so many answers are remembered, that there is none included. */
  remembered: number;
}

/** Some 15 MB for each of redirects and claims, were they all remembered. */
const usualLimits: KnownAliasLimits = { heldWhole: 25_000, remembered: 50_000 };

/** Says of a claim that it is there. */
const claim = {};

export async function openKnownAliases(
  readModel: Pick<ReadModel, 'collection'>,
  partition: number,
  limits: KnownAliasLimits = usualLimits,
): Promise<KnownAliases> {
  const storedRedirects = readModel.collection(redirects);
  const storedClaims = readModel.collection(claims);
  const knownRedirects = createHeld<Redirect>(limits);
  const knownClaims = createHeld<typeof claim>(limits);

  await withClassifiedErrors(async () => {
    const some = { limit: limits.heldWhole + 1 };
    const found = await storedRedirects.find({ partition }, some).toArray();
    knownRedirects.hold(found.map(redirectOf));
    const ids = await storedClaims.find({ partition }, { ...some, projection: { _id: 1 } }).toArray();
    knownClaims.hold(ids.map(({ _id }) => [_id, claim]));
  });

  async function claimsOf(leadId: string): Promise<string[]> {
    const found = await withClassifiedErrors(() =>
      storedClaims.find({ _id: claimIdsOf(leadId) }, { projection: { _id: 1 } }).toArray(),
    );
    return found.map(({ _id }) => readClaimId(_id).alias_lead_id);
  }

  async function lookUpClaims(commands: readonly IntakeCommand[]): Promise<AliasState['claims']> {
    const wanted = possibleClaims(commands).map(({ lead_id, alias_lead_id }) =>
      claimId(lead_id, alias_lead_id),
    );
    const [isClaimed, ofDeleted] = await Promise.all([
      knownClaims.lookUp(wanted, async (missing) =>
        (await findStoredIds(storedClaims, missing)).map((id) => [id, claim] as const),
      ),
      // Deletions are few, and need all of a lead's.
      Promise.all(
        possibleDeletions(commands).map(async (leadId) => [leadId, await claimsOf(leadId)] as const),
      ),
    ]);
    const found: AliasState['claims'] = new Map();
    for (const id of wanted)
      if (isClaimed(id)) {
        const { lead_id, alias_lead_id } = readClaimId(id);
        addClaim(found, lead_id, alias_lead_id);
      }
    for (const [leadId, claimed] of ofDeleted)
      for (const aliasLeadId of claimed) addClaim(found, leadId, aliasLeadId);
    return found;
  }

  return {
    lookUp: async (commands) => {
      const wanted = knownRedirects.isWhole() ? [] : possibleRedirects(commands);
      const [redirectTo, claimed] = await Promise.all([
        knownRedirects.lookUp(wanted, async (missing) =>
          (await findByIds(storedRedirects, missing.map(uuidToBinary))).map(redirectOf),
        ),
        lookUpClaims(commands),
      ]);
      return { redirects: { get: redirectTo }, claims: claimed };
    },
    redirected: (leadId, redirect) => {
      knownRedirects.put(leadId, redirect);
    },
    claimed: (leadId, aliasLeadId) => {
      knownClaims.put(claimId(leadId, aliasLeadId), claim);
    },
    deleted: (leadId, claimed) => {
      knownRedirects.put(leadId, null);
      for (const aliasLeadId of claimed) knownClaims.put(claimId(leadId, aliasLeadId), null);
    },
    claimsOf,
    clear: () => {
      knownRedirects.clear();
      knownClaims.clear();
    },
  };
}

type RedirectFields = Parameters<typeof binaryToUuid>[0];

function redirectOf({
  _id,
  lead_id,
  alias_kind,
  alias,
}: {
  _id: RedirectFields;
  lead_id: string;
  alias_kind: string;
  alias: string;
}): readonly [string, Redirect] {
  return [binaryToUuid(_id), { lead_id, alias: { alias_kind, alias } }];
}

/** What is in hand of a collection: all of it, until some of it has to be forgotten. */
interface Held<Value extends object> {
  /** Whether what is not in hand is not there. */
  isWhole(): boolean;
  /** All that there is, or more of it than is held whole. */
  hold(found: readonly (readonly [string, Value])[]): void;
  /** What is under these keys; nothing is fetched of what is held whole. */
  lookUp(
    keys: readonly string[],
    fetch: (missing: string[]) => Promise<Iterable<readonly [string, Value]>>,
  ): Promise<(key: string) => Value | undefined>;
  put(key: string, value: Value | null): void;
  /** Nothing is there any more. */
  clear(): void;
}

function createHeld<Value extends object>({ heldWhole, remembered }: KnownAliasLimits): Held<Value> {
  let isWhole = true;
  const cache = createStateCache<Value>({
    maximumEntries: Math.max(heldWhole, remembered, 1),
    onForgotten: () => {
      isWhole = false;
    },
  });
  const put = (key: string, value: Value | null) => {
    if (value === null && isWhole) cache.delete(key);
    else cache.put(key, value);
  };
  return {
    isWhole: () => isWhole,
    hold: (found) => {
      isWhole = found.length <= heldWhole;
      if (isWhole) for (const [key, value] of found) cache.put(key, value);
    },
    lookUp: async (keys, fetch) => {
      if (isWhole) return (key) => cache.get(key) ?? undefined;
      const found = await cache.load(keys, fetch);
      return (key) => found.get(key) ?? undefined;
    },
    put,
    clear: () => {
      cache.clear();
      isWhole = true;
    },
  };
}
