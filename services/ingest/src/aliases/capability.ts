// Redirects and claims of aliases as a projection. `intake` looks leads and aliases up in its cache, which is never ahead of the
// stored documents.
import { projection, type OpenCapability, type PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import {
  createGuardedWriter,
  insertMissing,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type GuardedWriter,
} from '@lead-scoring/read-model';
import { sectionsOf, type DeletedLead } from '../events/sections.js';
import { possibleClaimers } from '../intake/lookups-model.js';
import type { IntakeCommand } from '../intake/messages.js';
import type { LookedUpLinks } from '../intake/state.js';
import { AliasCounts, type CountChange } from './alias-counts.js';
import {
  aliasCounts,
  claimId,
  claimIdsOf,
  claims,
  redirectDocument,
  redirects,
  type ClaimDocument,
  type RedirectDocument,
} from './documents.js';
import type { CacheLimits } from './cached-documents.js';
import { KnownAliases } from './known-aliases.js';

/** @param limits the sizes of the cache; default: `usualLimits` */
export function aliasesProjection(limits?: CacheLimits) {
  return projection({
    name: 'aliases',
    events: {
      AliasClaimed: records.aliasClaimed,
      AliasLinked: records.aliasLinked,
      AliasUnlinked: records.aliasUnlinked,
      LeadDeleted: records.leadDeleted,
    },
    collections: [redirects, claims, aliasCounts],
    open: (scope) => new Aliases(scope, limits),
  });
}

export class Aliases implements OpenCapability {
  readonly #storedRedirects;
  readonly #storedClaims;
  readonly #writer: GuardedWriter;
  readonly #known: KnownAliases;
  readonly #counts: AliasCounts;

  constructor(
    private readonly scope: PartitionScope,
    limits?: CacheLimits,
  ) {
    const { readModel, partition } = scope;
    this.#storedRedirects = readModel.collection(redirects);
    this.#storedClaims = readModel.collection(claims);
    this.#writer = createGuardedWriter(readModel);
    this.#known = new KnownAliases(readModel, partition, limits);
    this.#counts = new AliasCounts(readModel, partition);
  }

  /** The redirects, claims and counts that the decision on these commands needs. */
  async lookUp(commands: readonly IntakeCommand[]): Promise<LookedUpLinks> {
    const [known, counts] = await Promise.all([
      this.#known.lookUp(commands),
      this.#counts.lookUp(possibleClaimers(commands)),
    ]);
    return { ...known, counts };
  }

  /** Fills the cache before the first batch is decided, so that the batch does not wait for it. */
  caughtUp(): Promise<void> {
    return this.#known.load();
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    for (const { others, deleted } of sectionsOf(folded)) {
      for (const some of upToUnlinks(others)) await this.#foldLinks(some);
      for (const one of deleted) await this.#foldDeletion(one);
    }
  }

  async #foldLinks(folded: readonly FoldedRecord[]): Promise<void> {
    const claimed: ClaimDocument[] = [];
    const changes: CountChange[] = [];
    const linked: RedirectDocument[] = [];
    for (const record of folded) {
      const at = { partition: this.scope.partition, offset: offsetToNumber(record.offset) };
      if (isRecord(record, records.aliasClaimed)) {
        const { ou_id, lead_id, alias_lead_id } = record.payload;
        claimed.push({
          _id: claimId(lead_id, alias_lead_id),
          ou: uuidToBinary(ou_id),
          partition: at.partition,
        });
        changes.push({ ou_id, by: 1, offset: at.offset });
      } else if (isRecord(record, records.aliasLinked)) linked.push(redirectDocument(record.payload, at));
    }
    if (claimed.length > 0)
      await Promise.all([insertMissing(this.#storedClaims, claimed), this.#counts.fold(changes)]);
    if (linked.length > 0) await this.#writer.write(this.#storedRedirects, linked);
    // The cache is updated after the write, so that it never has more than is stored.
    for (const record of folded)
      if (isRecord(record, records.aliasClaimed))
        this.#known.claimed(record.payload.lead_id, record.payload.alias_lead_id);
      else if (isRecord(record, records.aliasLinked)) {
        const { alias_lead_id, lead_id, alias, linked_at } = record.payload;
        this.#known.redirected(alias_lead_id, { lead_id, alias, linked_at });
      } else if (isRecord(record, records.aliasUnlinked))
        await this.#foldUnlink(record.payload, offsetToNumber(record.offset));
  }

  async #foldUnlink({ alias_lead_id }: records.AliasUnlinked, offset: number): Promise<void> {
    await withClassifiedErrors(() =>
      this.#storedRedirects.deleteOne({ _id: uuidToBinary(alias_lead_id), offset: { $lt: offset } }),
    );
    this.#known.unlinked(alias_lead_id);
  }

  async #foldDeletion({ payload: { ou_id, lead_id, joined_to }, offset }: DeletedLead): Promise<void> {
    // Its id and its aliases name the lead that it has joined.
    if (joined_to !== undefined) return;
    const claimed = await this.#known.claimsOf(lead_id);
    // The counts come before the claims, whose documents give their number.
    if (claimed.length > 0) await this.#counts.fold([{ ou_id, by: -claimed.length, offset }]);
    await withClassifiedErrors(async () => {
      await this.#storedClaims.deleteMany({ _id: claimIdsOf(lead_id) });
      await this.#storedRedirects.deleteMany({ _id: uuidToBinary(lead_id), offset: { $lt: offset } });
    });
    this.#known.deleted(lead_id, claimed);
  }

  forget(): void {
    this.#known.forget();
    this.#counts.forget();
  }
}

/** The records in parts, each of which ends with the end of a link: a link before it and one after it are not of one write. */
function upToUnlinks(folded: readonly FoldedRecord[]): FoldedRecord[][] {
  const parts: FoldedRecord[][] = [];
  let from = 0;
  for (const [index, record] of folded.entries())
    if (isRecord(record, records.aliasUnlinked)) {
      parts.push(folded.slice(from, index + 1));
      from = index + 1;
    }
  if (from < folded.length) parts.push(folded.slice(from));
  return parts;
}
