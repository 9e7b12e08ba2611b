// Redirects and claims while a batch is decided: where an event goes that has come to a lead, and which aliases leads claim.
// Pure.
import { leadIdOf, type Alias, type records } from '@lead-scoring/contracts';
import { AliasAllowance } from './allowance-model.js';
import type { IntakeEvent } from './messages.js';
import type { BatchOutput } from './output-model.js';
import { addClaim, type AliasState, type LookedUpAliases, type Redirect } from './state.js';

type ChunkEvent = records.ChunkEvent;
/** Of an event or a command: the lead that it has come to, and how it came there. */
export type Route = Pick<ChunkEvent, 'lead_id' | 'forwarded_by' | 'returned'>;

/** `forwarded_by` holds at most so many leads; an event that came so far stays where it is. */
const maximumHops = 20;

/**
 * Where an event goes that has come to a lead. Redirects can form a ring (two leads claim each other at the same
 * time); the smallest id of a ring keeps the events and takes its redirect back, which ends the ring.
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
  /** To the lead that forwarded it. */
  | { to: 'return'; lead_id: string };

/** What changes in what is forwarded or returned. */
export function onwardFrom(
  { lead_id, forwarded_by = [] }: Route,
  destination: Exclude<Destination, { to: 'keep' }>,
): Route {
  return destination.to === 'forward'
    ? { lead_id: destination.lead_id, forwarded_by: [...forwarded_by, lead_id] }
    : { lead_id: destination.lead_id, forwarded_by: forwarded_by.slice(0, -1), returned: true };
}

export class BatchAliases {
  /** null: taken away by a deletion. */
  readonly #newRedirects = new Map<string, Redirect | null>();
  readonly #newClaims: AliasState['claims'] = new Map();
  /** Leads deleted in this batch: the claims that were known of them before count no more. */
  readonly #deleted = new Set<string>();
  readonly #allowance: AliasAllowance;
  /** By batch. */
  readonly #refused = new Map<string, records.AliasesRefused>();

  constructor(
    private readonly known: LookedUpAliases,
    private readonly output: BatchOutput,
    aliasShare: number,
  ) {
    this.#allowance = new AliasAllowance(known.counts, aliasShare);
  }

  destinationOf({ lead_id, forwarded_by = [], returned }: Route): Destination {
    const redirect = this.redirectOf(lead_id);
    const from = forwarded_by.at(-1);
    if (from === undefined) return returned ? { to: 'keep' } : destinationOf(lead_id, forwarded_by, redirect);
    // A redirect leads to the lead that made the claim, and a ring to one that the event has passed already. Any other lead
    // was deleted after the redirect was made, and has begun anew, perhaps with a redirect of its own.
    const isExpected = this.#hasClaimed(lead_id, from) || forwarded_by.includes(lead_id);
    if (returned || !isExpected) return { to: 'return', lead_id: from };
    return destinationOf(lead_id, forwarded_by, redirect);
  }

  redirectOf(leadId: string): Redirect | undefined {
    const changed = this.#newRedirects.get(leadId);
    return changed === undefined ? this.known.redirects.get(leadId) : (changed ?? undefined);
  }

  redirect(ouId: string, from: string, redirect: Redirect, at: string): void {
    this.#newRedirects.set(from, redirect);
    const { lead_id, alias } = redirect;
    this.output.record({
      type: 'AliasLinked',
      payload: { ou_id: ouId, alias, alias_lead_id: from, lead_id, linked_at: at },
    });
  }

  /** The lead of the event claims the further aliases that it names, as far as its OU may. */
  claimAliases(event: ChunkEvent, command: records.IngestEvents): void {
    // The first alias led here, by itself or by a redirect.
    for (const alias of event.aliases.slice(1)) {
      const aliasLeadId = leadIdOf(command.ou_id, alias.alias_kind, alias.alias);
      if (aliasLeadId === event.lead_id || event.forwarded_by?.includes(aliasLeadId)) continue;
      if (this.#hasClaimed(event.lead_id, aliasLeadId)) continue;
      if (this.#allowance.take(command.ou_id)) this.#claim(alias, aliasLeadId, event.lead_id, command);
      else this.#refuse(event, command);
    }
  }

  #claim(
    alias: Alias,
    aliasLeadId: string,
    leadId: string,
    { ou_id, received_at }: records.IngestEvents,
  ): void {
    addClaim(this.#newClaims, leadId, aliasLeadId);
    const claim = { ou_id, alias, alias_lead_id: aliasLeadId, lead_id: leadId };
    this.output.record({ type: 'AliasClaimed', payload: { ...claim, claimed_at: received_at } });
    this.output.commands.push({
      lead_id: aliasLeadId,
      command: { type: 'LinkAlias', payload: { ...claim, linked_at: received_at } },
    });
  }

  /** The event is kept, and the alias stays a lead of its own. Each time that it is named counts. */
  #refuse({ lead_id }: ChunkEvent, { ou_id, batch_id }: records.IngestEvents): void {
    const refused = this.#refused.get(batch_id) ?? { ou_id, lead_id, batch_id, count: 0 };
    refused.count += 1;
    this.#refused.set(batch_id, refused);
  }

  /** One for each batch of events that named aliases beyond the limit. */
  refusals(): IntakeEvent[] {
    return [...this.#refused.values()].map((payload) => ({ type: 'AliasesRefused', payload }));
  }

  /**
   * The redirect and the claims of a lead end with it.
   * @returns the leads whose aliases it had claimed
   */
  endOf(ouId: string, leadId: string): string[] {
    const before = this.#deleted.has(leadId) ? undefined : this.known.claims.get(leadId);
    const claimed = [...(before ?? []), ...(this.#newClaims.get(leadId) ?? [])];
    this.#allowance.giveBack(ouId, claimed.length);
    this.#newRedirects.set(leadId, null);
    this.#newClaims.delete(leadId);
    this.#deleted.add(leadId);
    return claimed;
  }

  #hasClaimed(leadId: string, aliasLeadId: string): boolean {
    if (this.#newClaims.get(leadId)?.has(aliasLeadId)) return true;
    return !this.#deleted.has(leadId) && (this.known.claims.get(leadId)?.has(aliasLeadId) ?? false);
  }
}
