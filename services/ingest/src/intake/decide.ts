// Decides on incoming events, links of aliases and deletions. Pure. It decides on a batch at a time, so that a lead's events of one
// batch become one record. It drops repeats, forwards events of redirected leads, and claims further aliases.
import type { records } from '@lead-scoring/contracts';
import { BatchAliases, nextPath } from './aliases-model.js';
import { BatchDeletions } from './deletions-model.js';
import { inParts } from './groups-model.js';
import type { IntakeCommand, IntakeDecision } from './messages.js';
import { BatchOutput } from './output-model.js';
import { BatchRepeats, repeatKeyOf } from './repeats-model.js';
import type { StoredLead, LookedUpAliases, StoredRepeats } from './state.js';

/**
 * @param known the redirects of `possibleRedirects`, the claims of `possibleClaims` and of `possibleDeletions`, and the counts of
 *   `possibleClaimers`
 * @param stored the events of `possibleRepeats` that are stored
 * @param storedLeads the stored data of `possibleDeletions`, by lead
 * @param aliasShare the most aliases that the leads of an OU may claim in this partition
 */
export function decideIntake(
  commands: readonly IntakeCommand[],
  known: LookedUpAliases,
  stored: StoredRepeats,
  storedLeads: ReadonlyMap<string, StoredLead> = new Map(),
  aliasShare = Infinity,
): IntakeDecision {
  const batch = new IntakeBatch(known, stored, storedLeads, aliasShare);
  for (const command of commands) {
    switch (command.type) {
      case 'IngestEvents':
        batch.ingest(command.payload);
        break;
      case 'LinkAlias':
        batch.link(command.payload);
        break;
      case 'DeleteLead':
        batch.delete(command);
        break;
      case 'UnlinkAlias':
        batch.unlink(command.payload);
        break;
      case 'RememberEvents':
        batch.remember(command.payload);
        break;
      default:
        command satisfies never;
    }
  }
  return batch.decision();
}

class IntakeBatch {
  readonly #output = new BatchOutput();
  readonly #repeats: BatchRepeats;
  readonly #aliases: BatchAliases;
  readonly #deletions: BatchDeletions;

  constructor(
    known: LookedUpAliases,
    stored: StoredRepeats,
    storedLeads: ReadonlyMap<string, StoredLead>,
    aliasShare: number,
  ) {
    this.#repeats = new BatchRepeats(stored);
    this.#aliases = new BatchAliases(known, this.#output, aliasShare);
    this.#deletions = new BatchDeletions(storedLeads, this.#aliases, this.#output);
  }

  ingest(command: records.IngestEvents): void {
    const forwarded = new Map<string, records.ChunkEvent[]>();
    for (const event of command.events) {
      // Checked before forwarding, because the event may have been stored here before the lead was redirected.
      const key = repeatKeyOf(event);
      if (key !== null && this.#repeats.isRepeat(key)) {
        this.#repeats.drop(key, event, command);
        continue;
      }
      const destination = this.#aliases.destinationOf(event);
      if (destination.to !== 'keep') {
        const onward = { ...event, ...nextPath(event, destination) };
        const others = forwarded.get(destination.lead_id);
        if (others) others.push(onward);
        else forwarded.set(destination.lead_id, [onward]);
        continue;
      }
      if ('settles' in destination) {
        const settled = { ...destination.settles, lead_id: event.lead_id };
        this.#aliases.redirect(command.ou_id, event.lead_id, settled, command.received_at);
      }
      if (key !== null) this.#repeats.keep(key, event, command);
      this.#output.keep(event, command);
      this.#aliases.claimAliases(event, command);
    }
    for (const [leadId, events] of forwarded) this.#forward(leadId, events, command);
  }

  #forward(leadId: string, events: readonly records.ChunkEvent[], command: records.IngestEvents): void {
    for (const part of inParts(events))
      this.#output.commands.push({
        lead_id: leadId,
        command: { type: 'IngestEvents', payload: { ...command, events: part } },
      });
  }

  /** The first lead to claim an alias gets it; a later claim changes nothing. */
  link({ ou_id, alias, alias_lead_id, lead_id, linked_at }: records.LinkAlias): void {
    if (alias_lead_id === lead_id || this.#aliases.redirectOf(alias_lead_id)) return;
    this.#aliases.redirect(ou_id, alias_lead_id, { lead_id, alias }, linked_at);
  }

  /** Deletes the lead, or forwards the command as an event of the lead would be forwarded. */
  delete(command: Extract<IntakeCommand, { type: 'DeleteLead' }>): void {
    const { payload } = command;
    if (this.#deletions.isRepeat(payload)) {
      this.#output.replies.push({ to: command, reply: { outcome: 'done' } });
      return;
    }
    const destination = this.#aliases.destinationOf(payload);
    if (destination.to === 'keep') this.#deletions.delete(command);
    else
      this.#output.commands.push({
        lead_id: destination.lead_id,
        command: { type: 'DeleteLead', payload: { ...payload, ...nextPath(payload, destination) } },
        answers: command,
      });
  }

  unlink(command: records.UnlinkAlias): void {
    this.#deletions.unlink(command);
  }

  remember(payload: records.RememberEvents): void {
    this.#repeats.remember(payload);
    this.#output.record({ type: 'EventsRemembered', payload });
  }

  decision(): IntakeDecision {
    this.#output.endSection();
    for (const event of this.#repeats.events()) this.#output.recordBetween(event);
    for (const event of this.#aliases.refusals()) this.#output.recordBetween(event);
    return this.#output.decision();
  }
}
