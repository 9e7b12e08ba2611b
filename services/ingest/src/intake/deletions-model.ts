// Deletions of leads while a batch is decided, and the commands that follow for the leads whose aliases they had claimed. Pure.
import { isNameBasedId, leadIdOf, nameBasedId, type records } from '@lead-scoring/contracts';
import type { BatchAliases } from './aliases-model.js';
import type { IntakeCommand } from './messages.js';
import type { BatchMetadata } from './metadata-model.js';
import type { BatchOutput } from './output-model.js';
import type { LookedUpAliases, StoredLead } from './state.js';

/** The most ids in one RememberEvents: about 200 KB. */
const maximumRemembered = 5_000;

export class BatchDeletions {
  /** The ids of the ends in this batch, by lead: the stored data of these leads no longer counts. */
  readonly #deletions = new Map<string, string>();
  /** Those of them that are deletions. */
  readonly #removed = new Map<string, string>();
  /** Leads that were divided in this batch: their events come again. */
  readonly #divided = new Set<string>();

  constructor(
    private readonly known: Pick<LookedUpAliases, 'leads' | 'deletions' | 'eventful'>,
    private readonly storedLeads: ReadonlyMap<string, StoredLead>,
    private readonly aliases: BatchAliases,
    private readonly metadata: BatchMetadata,
    private readonly output: BatchOutput,
  ) {}

  /** Whether this is a repeat of the lead's last deletion. */
  isRepeat({ lead_id, deletion_id }: records.DeleteLead): boolean {
    return (this.#deletions.get(lead_id) ?? this.storedLeads.get(lead_id)?.deletion_id) === deletion_id;
  }

  /** Deletes a lead whose events are in this partition. */
  delete(command: Extract<IntakeCommand, { type: 'DeleteLead' }>): void {
    const { payload } = command;
    const { ou_id, lead_id, deletion_id, requested_by, requested_at, actor } = payload;
    this.output.endSection();
    if (!this.exists(ou_id, lead_id)) {
      this.output.replies.push({
        to: command,
        reply: {
          outcome: 'rejected',
          code: 'lead_not_found',
          message: 'No lead of this organizational unit has this id.',
        },
      });
      return;
    }
    this.#remove({
      ou_id,
      lead_id,
      deletion_id,
      deleted_by: requested_by,
      deleted_at: requested_at,
      actor,
    });
    this.output.replies.push({ to: command, reply: { outcome: 'done' } });
  }

  /** Ends the link of an alias to a deleted lead, and deletes the alias's own lead; a link to another lead stays. */
  unlink({ alias_lead_id, lead_id: linked_to, ...deletion }: records.UnlinkAlias): void {
    if (this.aliases.redirectOf(alias_lead_id)?.lead_id !== linked_to) return;
    this.output.endSection();
    this.#remove({ ...deletion, lead_id: alias_lead_id, linked_to });
  }

  /** Ends a lead whose events are sent again, each to the lead that its alias names now. Its links stay. */
  divide({ ou_id, lead_id, alias_lead_id, unmerged_at, followed, actor }: records.DivideLead): void {
    const deletion_id = nameBasedId(ou_id, `divide:${alias_lead_id}:${lead_id}:${unmerged_at}`);
    if (!this.exists(ou_id, lead_id)) return;
    this.output.endSection();
    this.output.recordBetween({
      type: 'LeadDeleted',
      payload: {
        ...{ ou_id, lead_id, deletion_id, deleted_at: unmerged_at },
        ...(actor && { actor }),
        joined_to: lead_id,
      },
    });
    this.#deletions.set(lead_id, deletion_id);
    this.#divided.add(lead_id);
    const after = this.lastDeletionOf(lead_id);
    const payload = {
      ...{ ou_id, lead_id, alias_lead_id, unmerged_at, followed, after, deletion_id, from: 0 },
      ...(actor && { actor }),
    };
    this.output.commands.push({ lead_id, command: { type: 'SendDivided', payload } });
  }

  /** The last deletion of a lead; null where it was never deleted. */
  lastDeletionOf(leadId: string): string | null {
    return this.#removed.get(leadId) ?? this.known.deletions.get(leadId) ?? null;
  }

  /** Whether a lead has ended in this batch. */
  hasEnded(leadId: string): boolean {
    return this.#deletions.has(leadId);
  }

  /** Leaves out events that have come to a deleted lead by a link: should they come again, they are repeats. */
  drop(ouId: string, events: readonly records.ChunkEvent[]): void {
    for (const {
      may_repeat,
      id,
      aliases: [named],
    } of events)
      if (may_repeat === true && named)
        this.#remember(ouId, leadIdOf(ouId, named.alias_kind, named.alias), [id]);
  }

  #remember(ouId: string, leadId: string, ids: readonly string[]): void {
    for (let from = 0; from < ids.length; from += maximumRemembered)
      this.output.commands.push({
        lead_id: leadId,
        command: {
          type: 'RememberEvents',
          payload: { ou_id: ouId, lead_id: leadId, event_ids: ids.slice(from, from + maximumRemembered) },
        },
      });
  }

  /** Ends a lead whose events have all been sent to the lead that it joins. Its links stay: its id names that lead from now on. */
  join({ ou_id, alias_lead_id, lead_id, linked_at, actor }: records.JoinLead): void {
    const deletion_id = nameBasedId(ou_id, `join:${alias_lead_id}:${lead_id}:${linked_at}`);
    this.output.join({
      type: 'LeadDeleted',
      payload: {
        ...{ ou_id, lead_id: alias_lead_id, deletion_id, deleted_at: linked_at },
        ...(actor && { actor }),
        joined_to: lead_id,
      },
    });
    this.#deletions.set(alias_lead_id, deletion_id);
    this.metadata.forget(alias_lead_id);
  }

  /** Whether a lead of the OU has events or claims. */
  exists(ouId: string, leadId: string): boolean {
    const stored = this.storedLeads.get(leadId)?.ou_id ?? this.known.leads.get(leadId);
    return (
      (!this.#deletions.has(leadId) && stored === ouId) ||
      this.#divided.has(leadId) ||
      this.output.hasNow(ouId, leadId) ||
      this.aliases.hasClaimedNow(ouId, leadId)
    );
  }

  /** Whether a lead of the OU has events, or is divided and gets them back. An event that waits for an alias's past does not count. */
  hasEvents(ouId: string, leadId: string): boolean {
    return (
      (!this.#deletions.has(leadId) && this.known.eventful.get(leadId) === ouId) ||
      this.#divided.has(leadId) ||
      this.output.hasNow(ouId, leadId)
    );
  }

  #remove(deleted: records.LeadDeleted & { deleted_by: string }): void {
    const { lead_id, ou_id, deletion_id, deleted_by, deleted_at, actor } = deleted;
    const { commands } = this.output;
    for (const [aliasLeadId, ids] of this.#foreignIdsOf(lead_id)) this.#remember(ou_id, aliasLeadId, ids);
    for (const alias_lead_id of this.aliases.endLead(ou_id, lead_id))
      commands.push({
        lead_id: alias_lead_id,
        command: {
          type: 'UnlinkAlias',
          payload: { ou_id, alias_lead_id, lead_id, deletion_id, deleted_by, deleted_at, actor },
        },
      });
    this.output.recordBetween({ type: 'LeadDeleted', payload: deleted });
    this.#deletions.set(lead_id, deletion_id);
    this.#removed.set(lead_id, deletion_id);
    this.#divided.delete(lead_id);
    this.metadata.forget(lead_id);
  }

  /** The ids of this lead's events whose repeats are searched at another lead once that lead is no longer redirected here. */
  #foreignIdsOf(leadId: string): Map<string, string[]> {
    const foreign = new Map<string, string[]>();
    if (!this.#deletions.has(leadId))
      for (const [aliasLeadId, ids] of this.storedLeads.get(leadId)?.foreign ?? [])
        foreign.set(aliasLeadId, [...ids]);
    for (const kept of this.output.keptOf(leadId)) addForeign(foreign, kept);
    return foreign;
  }
}

/**
 * Adds the ids of events that may come again under an alias that names another lead without a redirect: a repeat comes to that lead
 * first, and is forwarded only while that lead is redirected.
 */
export function addForeign(
  to: Map<string, string[]>,
  { ou_id, lead_id, aliases: [named], events }: records.EventsIngested,
): void {
  const own = named && leadIdOf(ou_id, named.alias_kind, named.alias);
  if (own === undefined || own === lead_id) return;
  const ids = to.get(own) ?? [];
  for (const { id } of events) if (isNameBasedId(id)) ids.push(id);
  if (ids.length > 0) to.set(own, ids);
}
