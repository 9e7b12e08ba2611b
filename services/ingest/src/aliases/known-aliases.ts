// A partition's look-ups of redirects and claims, with caches of bounded size. Few documents are all cached; of many, the latest
// look-ups are cached and the others are read, once per batch.
import {
  findByIds,
  findStoredIds,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { possibleClaims, possibleDeletions, possibleRedirects } from '../intake/lookups-model.js';
import type { IntakeCommand } from '../intake/messages.js';
import { addClaim, type AliasState, type LookedUpAliases, type Redirect } from '../intake/state.js';
import { claimId, claimIdsOf, claims, readClaimId, redirects, toRedirect } from './documents.js';
import { CachedDocuments, type CacheLimits } from './cached-documents.js';

/** At most about 15 MB for redirects and for claims each. */
export const usualLimits: CacheLimits = { completeUpTo: 25_000, lookUps: 50_000 };

/** The cached value of every claim: only its existence matters. */
const claim = {};

export class KnownAliases {
  readonly #storedRedirects;
  readonly #storedClaims;
  readonly #redirects: CachedDocuments<Redirect>;
  readonly #claims: CachedDocuments<typeof claim>;
  #isLoaded = false;

  constructor(
    readModel: Pick<ReadModel, 'collection'>,
    private readonly partition: number,
    private readonly limits: CacheLimits = usualLimits,
  ) {
    this.#storedRedirects = readModel.collection(redirects);
    this.#storedClaims = readModel.collection(claims);
    this.#redirects = new CachedDocuments(limits);
    this.#claims = new CachedDocuments(limits);
  }

  /** Fills the caches of redirects and claims, if they are few. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    const { partition } = this;
    await withClassifiedErrors(async () => {
      const some = { limit: this.limits.completeUpTo + 1 };
      const found = await this.#storedRedirects.find({ partition }, some).toArray();
      this.#redirects.fill(found.map(toRedirect));
      const ids = await this.#storedClaims.find({ partition }, { ...some, projection: { _id: 1 } }).toArray();
      this.#claims.fill(ids.map(({ _id }) => [_id, claim]));
    });
    this.#isLoaded = true;
  }

  /** The redirects and claims that the decision on these commands needs. */
  async lookUp(commands: readonly IntakeCommand[]): Promise<Pick<LookedUpAliases, 'redirects' | 'claims'>> {
    await this.load();
    const wanted = this.#redirects.isComplete() ? [] : possibleRedirects(commands);
    const [redirectTo, claimed] = await Promise.all([
      this.#redirects.lookUp(wanted, async (missing) =>
        (await findByIds(this.#storedRedirects, missing.map(uuidToBinary))).map(toRedirect),
      ),
      this.#lookUpClaims(commands),
    ]);
    return { redirects: { get: redirectTo }, claims: claimed };
  }

  async #lookUpClaims(commands: readonly IntakeCommand[]): Promise<AliasState['claims']> {
    const wanted = possibleClaims(commands).map(({ lead_id, alias_lead_id }) =>
      claimId(lead_id, alias_lead_id),
    );
    const [isClaimed, ofDeleted] = await Promise.all([
      this.#claims.lookUp(wanted, async (missing) =>
        (await findStoredIds(this.#storedClaims, missing)).map((id) => [id, claim] as const),
      ),
      // Deletions are rare, and need all claims of the lead.
      Promise.all(
        possibleDeletions(commands).map(async (leadId) => [leadId, await this.claimsOf(leadId)] as const),
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

  /** The leads whose aliases a lead has claimed, as stored. */
  async claimsOf(leadId: string): Promise<string[]> {
    const found = await withClassifiedErrors(() =>
      this.#storedClaims.find({ _id: claimIdsOf(leadId) }, { projection: { _id: 1 } }).toArray(),
    );
    return found.map(({ _id }) => readClaimId(_id).alias_lead_id);
  }

  /** Adds a redirect that was just stored. */
  redirected(leadId: string, redirect: Redirect): void {
    this.#redirects.put(leadId, redirect);
  }

  /** Removes a redirect that was just deleted. */
  unlinked(leadId: string): void {
    this.#redirects.put(leadId, null);
  }

  /** Adds a claim that was just stored. */
  claimed(leadId: string, aliasLeadId: string): void {
    this.#claims.put(claimId(leadId, aliasLeadId), claim);
  }

  /**
   * Removes the redirect and the claims of a lead, which were just deleted.
   * @param claimed the leads whose aliases it had claimed
   */
  deleted(leadId: string, claimed: readonly string[]): void {
    this.#redirects.put(leadId, null);
    for (const aliasLeadId of claimed) this.#claims.put(claimId(leadId, aliasLeadId), null);
  }

  forget(): void {
    this.#redirects.forget();
    this.#claims.forget();
    this.#isLoaded = false;
  }
}
