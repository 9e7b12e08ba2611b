// Redirects and claims while a batch is decided: the destination of an event that has come to a lead, and the aliases that leads
// claim. Pure.
import { isAnonymous, leadIdOf, type Alias, type records } from '@lead-scoring/contracts';
import { AliasAllowance } from './allowance-model.js';
import type { IntakeEvent } from './messages.js';
import type { BatchOutput } from './output-model.js';
import { addClaim, type AliasState, type LookedUpAliases, type Redirect } from './state.js';

type ChunkEvent = records.ChunkEvent;
/** What a link says of the past of its alias. */
type Past = Pick<records.LinkAlias, 'takes_past' | 'waiting'>;
/** The forwarding state of an event or a command: the lead that it has come to, and the leads that forwarded it. */
export type ForwardingPath = Pick<ChunkEvent, 'lead_id' | 'forwarded_by' | 'returned'>;

/** The most leads in `forwarded_by`; an event that was forwarded so often stays where it is. */
const maximumHops = 20;

/**
 * The destination of an event that has come to a lead. Redirects can form a ring (two leads claim each other at the same time);
 * the lead with the smallest id of a ring keeps the events and takes its redirect back, which ends the ring.
 */
export function destinationOf(
  leadId: string,
  forwardedBy: readonly string[],
  redirect: Redirect | undefined,
): { to: 'keep' } | { to: 'keep'; settles: Redirect } | { to: 'forward'; lead_id: string } {
  if (!redirect || redirect.lead_id === leadId || forwardedBy.length >= maximumHops) return { to: 'keep' };
  const seen = forwardedBy.indexOf(redirect.lead_id);
  if (seen === -1) return { to: 'forward', lead_id: redirect.lead_id };
  const smallest = forwardedBy.slice(seen).reduce((least, id) => (id < least ? id : least), leadId);
  return smallest === leadId ? { to: 'keep', settles: redirect } : { to: 'forward', lead_id: smallest };
}

export type Destination =
  | ReturnType<typeof destinationOf>
  /** Back to the lead that forwarded the event. */
  | { to: 'return'; lead_id: string };

/** The path of an event or command after it is forwarded or returned. */
export function nextPath(
  { lead_id, forwarded_by = [] }: ForwardingPath,
  destination: Exclude<Destination, { to: 'keep' }>,
): ForwardingPath {
  return destination.to === 'forward'
    ? { lead_id: destination.lead_id, forwarded_by: [...forwarded_by, lead_id] }
    : { lead_id: destination.lead_id, forwarded_by: forwarded_by.slice(0, -1), returned: true };
}

export class BatchAliases {
  /** By redirected lead; null: the redirect was ended by a deletion or by a caller. */
  readonly #newRedirects = new Map<string, Redirect | null>();
  readonly #newClaims: AliasState['claims'] = new Map();
  /** The OUs of the leads that have claimed aliases in this batch. */
  readonly #claimers = new Map<string, string>();
  /** Leads deleted in this batch: their earlier claims no longer count. */
  readonly #deleted = new Set<string>();
  readonly #allowance: AliasAllowance;
  /** Refused aliases by batch id. */
  readonly #refused = new Map<string, records.AliasesRefused>();

  constructor(
    private readonly known: LookedUpAliases,
    private readonly output: BatchOutput,
    aliasShare: number,
  ) {
    this.#allowance = new AliasAllowance(known.counts, aliasShare);
  }

  destinationOf({ lead_id, forwarded_by = [], returned }: ForwardingPath): Destination {
    const redirect = this.redirectOf(lead_id);
    const from = forwarded_by.at(-1);
    if (from === undefined) return returned ? { to: 'keep' } : destinationOf(lead_id, forwarded_by, redirect);
    // A redirect leads to the lead that made the claim, or in a ring to a lead that the event has passed. Any other lead was deleted
    // after the redirect was made, and is a new lead since, perhaps with a redirect of its own.
    const isExpected = this.hasClaimed(lead_id, from) || forwarded_by.includes(lead_id);
    if (returned || !isExpected) return { to: 'return', lead_id: from };
    return destinationOf(lead_id, forwarded_by, redirect);
  }

  redirectOf(leadId: string): Redirect | undefined {
    const changed = this.#newRedirects.get(leadId);
    return changed === undefined ? this.known.redirects.get(leadId) : (changed ?? undefined);
  }

  redirect(
    ouId: string,
    from: string,
    { lead_id, alias }: Pick<Redirect, 'lead_id' | 'alias'>,
    at: string,
  ): void {
    this.#newRedirects.set(from, { lead_id, alias, linked_at: at });
    this.output.record({
      type: 'AliasLinked',
      payload: { ou_id: ouId, alias, alias_lead_id: from, lead_id, linked_at: at },
    });
  }

  /** Ends the link of an alias. The lead that has claimed it keeps the claim, and so does not link it once more. */
  endLink(
    { ou_id, alias_lead_id, unmerged_at, actor }: records.UnmergeLead,
    { lead_id, alias }: Redirect,
  ): void {
    this.#newRedirects.set(alias_lead_id, null);
    this.output.record({
      type: 'AliasUnlinked',
      payload: {
        ...{ ou_id, alias, alias_lead_id, lead_id, unlinked_at: unmerged_at },
        ...(actor && { actor }),
      },
    });
  }

  /** Whether the events of a lead go to another lead. */
  isRedirected(leadId: string): boolean {
    return (this.redirectOf(leadId)?.lead_id ?? leadId) !== leadId;
  }

  /** Claims the alias of a lead that a caller merges into another, whatever the limit of aliases, and asks it to join. */
  claimMerged({ merged_at, actor, ...claim }: records.MergeLead): void {
    const { ou_id, lead_id, alias_lead_id } = claim;
    if (!this.hasClaimed(lead_id, alias_lead_id)) {
      addClaim(this.#newClaims, lead_id, alias_lead_id);
      this.#claimers.set(lead_id, ou_id);
      this.output.record({ type: 'AliasClaimed', payload: { ...claim, claimed_at: merged_at } });
    }
    const payload = { ...claim, linked_at: merged_at, takes_past: true, merges: true, actor };
    this.output.commands.push({ lead_id: alias_lead_id, command: { type: 'LinkAlias', payload } });
  }

  /**
   * Claims the event's further aliases for its lead, up to the limit of the OU. The past of an anonymous alias joins the lead of a known
   * alias. The event waits until such a past has come, so that a score crosses a threshold only with the past in it.
   * @returns whether the event waits
   */
  claimAliases(event: ChunkEvent, command: records.IngestEvents): boolean {
    let waits = false;
    const isPerson = event.aliases[0] !== undefined && !isAnonymous(event.aliases[0]);
    for (const { alias, aliasLeadId } of this.#unclaimed(event, command))
      if (!this.#allowance.take(command.ou_id)) this.#refuse(event, command);
      else {
        const takes_past = isPerson && isAnonymous(alias);
        const past: Past = takes_past ? { takes_past } : {};
        if (takes_past && !waits && this.known.visitors.has(aliasLeadId)) {
          waits = true;
          past.waiting = { ...command, events: [{ ...event, linked_by: aliasLeadId }] };
        }
        this.#claim(alias, aliasLeadId, event.lead_id, command, past);
      }
    return waits;
  }

  /** The event's aliases that its lead has not claimed, each with the lead that it names without a redirect. */
  *#unclaimed(
    { lead_id, aliases, forwarded_by }: ChunkEvent,
    { ou_id }: records.IngestEvents,
  ): Generator<{ alias: Alias; aliasLeadId: string }> {
    // The first alias names this lead, directly or by a redirect.
    for (let index = 1; index < aliases.length; index += 1) {
      const alias = aliases[index];
      if (!alias) continue;
      const aliasLeadId = leadIdOf(ou_id, alias.alias_kind, alias.alias);
      if (aliasLeadId === lead_id || forwarded_by?.includes(aliasLeadId)) continue;
      if (!this.hasClaimed(lead_id, aliasLeadId)) yield { alias, aliasLeadId };
    }
  }

  #claim(
    alias: Alias,
    aliasLeadId: string,
    leadId: string,
    { ou_id, received_at }: records.IngestEvents,
    past: Past,
  ): void {
    addClaim(this.#newClaims, leadId, aliasLeadId);
    this.#claimers.set(leadId, ou_id);
    const claim = { ou_id, alias, alias_lead_id: aliasLeadId, lead_id: leadId };
    this.output.record({ type: 'AliasClaimed', payload: { ...claim, claimed_at: received_at } });
    this.output.commands.push({
      lead_id: aliasLeadId,
      command: { type: 'LinkAlias', payload: { ...claim, linked_at: received_at, ...past } },
    });
  }

  /** Counts a refused alias, each time that an event names it. The event is kept, and the alias stays a lead of its own. */
  #refuse({ lead_id }: ChunkEvent, { ou_id, batch_id }: records.IngestEvents): void {
    const refused = this.#refused.get(batch_id) ?? { ou_id, lead_id, batch_id, count: 0 };
    refused.count += 1;
    this.#refused.set(batch_id, refused);
  }

  /** One event for each batch whose events named aliases above the limit. */
  refusals(): IntakeEvent[] {
    return [...this.#refused.values()].map((payload) => ({ type: 'AliasesRefused', payload }));
  }

  /**
   * Ends the redirect and the claims of a deleted lead.
   * @returns the leads whose aliases it had claimed
   */
  endLead(ouId: string, leadId: string): string[] {
    const before = this.#deleted.has(leadId) ? undefined : this.known.claims.get(leadId);
    const claimed = [...(before ?? []), ...(this.#newClaims.get(leadId) ?? [])];
    this.#allowance.giveBack(ouId, claimed.length);
    this.#newRedirects.set(leadId, null);
    this.#newClaims.delete(leadId);
    this.#claimers.delete(leadId);
    this.#deleted.add(leadId);
    return claimed;
  }

  /** Whether a lead of the OU has claimed an alias in this batch: it may have no event yet but one that waits. */
  hasClaimedNow(ouId: string, leadId: string): boolean {
    return this.#claimers.get(leadId) === ouId;
  }

  hasClaimed(leadId: string, aliasLeadId: string): boolean {
    if (this.#newClaims.get(leadId)?.has(aliasLeadId)) return true;
    return !this.#deleted.has(leadId) && (this.known.claims.get(leadId)?.has(aliasLeadId) ?? false);
  }
}
