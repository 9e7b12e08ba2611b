// What a partition knows of redirects and claims, however many there are: few are held whole, of many those that were asked
// for last, and the others are looked up, a batch at a time.
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
import { HeldDocuments, type HeldLimits } from './held-documents.js';

/** Some 15 MB for each of redirects and claims, were they all remembered. */
export const usualLimits: HeldLimits = { heldWhole: 25_000, remembered: 50_000 };

/** Says of a claim that it is there. */
const claim = {};

export class KnownAliases {
  readonly #storedRedirects;
  readonly #storedClaims;
  readonly #redirects: HeldDocuments<Redirect>;
  readonly #claims: HeldDocuments<typeof claim>;
  #isLoaded = false;

  constructor(
    readModel: Pick<ReadModel, 'collection'>,
    private readonly partition: number,
    private readonly limits: HeldLimits = usualLimits,
  ) {
    this.#storedRedirects = readModel.collection(redirects);
    this.#storedClaims = readModel.collection(claims);
    this.#redirects = new HeldDocuments(limits);
    this.#claims = new HeldDocuments(limits);
  }

  /** Reads redirects and claims, each whole if it is few. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    const { partition } = this;
    await withClassifiedErrors(async () => {
      const some = { limit: this.limits.heldWhole + 1 };
      const found = await this.#storedRedirects.find({ partition }, some).toArray();
      this.#redirects.hold(found.map(toRedirect));
      const ids = await this.#storedClaims.find({ partition }, { ...some, projection: { _id: 1 } }).toArray();
      this.#claims.hold(ids.map(({ _id }) => [_id, claim]));
    });
    this.#isLoaded = true;
  }

  /** What is to be known to decide on these. */
  async lookUp(commands: readonly IntakeCommand[]): Promise<Omit<LookedUpAliases, 'counts'>> {
    await this.load();
    const wanted = this.#redirects.isWhole() ? [] : possibleRedirects(commands);
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
      // Deletions are few, and need all of a lead's.
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

  /** Notes a redirect that was just stored. */
  redirected(leadId: string, redirect: Redirect): void {
    this.#redirects.put(leadId, redirect);
  }

  /** Notes a claim that was just stored. */
  claimed(leadId: string, aliasLeadId: string): void {
    this.#claims.put(claimId(leadId, aliasLeadId), claim);
  }

  /**
   * Notes that the redirect and the claims of a lead were just deleted.
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
