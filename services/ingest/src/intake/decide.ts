// Decides on incoming events, links of aliases and deletions. Pure. It decides on a batch at a time, so that a lead's events of one
// batch become one record. It drops repeats, forwards events of redirected leads, claims further aliases, and sends the past of a visitor
// to the person that an event has named.
import { isAnonymous, isNameBasedId, type records } from '@lead-scoring/contracts';
import { BatchAliases, nextPath } from './aliases-model.js';
import { BatchDeletions } from './deletions-model.js';
import { inParts } from './groups-model.js';
import type { IntakeCommand, IntakeDecision } from './messages.js';
import { BatchOutput } from './output-model.js';
import { BatchRepeats, repeatKeyOf } from './repeats-model.js';
import {
  historyKey,
  type HistoryPage,
  type HistoryPages,
  type LookedUpAliases,
  type StoredLead,
  type StoredRepeats,
} from './state.js';

/**
 * @param known the redirects of `possibleRedirects`, the claims of `possibleClaims` and of `possibleDeletions`, and the counts of
 *   `possibleClaimers`
 * @param stored the events of `possibleRepeats` that are stored
 * @param storedLeads the stored data of `possibleDeletions`, by lead
 * @param pages the next records of `possibleJoins`
 * @param aliasShare the most aliases that the leads of an OU may claim in this partition
 */
export function decideIntake(
  commands: readonly IntakeCommand[],
  known: LookedUpAliases,
  stored: StoredRepeats,
  storedLeads: ReadonlyMap<string, StoredLead> = new Map(),
  aliasShare = Infinity,
  pages: HistoryPages = new Map(),
): IntakeDecision {
  const batch = new IntakeBatch(known, stored, storedLeads, aliasShare);
  for (const command of commands) {
    switch (command.type) {
      case 'IngestEvents':
        batch.ingest(command.payload);
        break;
      case 'LinkAlias':
        batch.link(command.payload, pages.get(historyKey({ ...command.payload, from: 0 })));
        break;
      case 'JoinLead':
        batch.join(command.payload, pages.get(historyKey(command.payload)));
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

  ingest(whole: records.IngestEvents): void {
    const forwarded = new Map<string, records.ChunkEvent[]>();
    for (const sent of whole.events) {
      const event = this.#taken(sent, whole);
      if (!event) continue;
      const command = event.batch_id === undefined ? whole : { ...whole, batch_id: event.batch_id };
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
      // An event that comes by a link has claimed its aliases before.
      if (sent.linked_by === undefined && this.#aliases.claimAliases(event, command)) continue;
      if (key !== null) this.#repeats.keep(key, event, command);
      this.#output.keep(event, command);
    }
    for (const [leadId, events] of forwarded) this.#forward(leadId, events, whole);
  }

  /** An event that comes by a link belongs to a lead that has been deleted since, where it has not claimed the alias: then it is gone, too. */
  #taken(event: records.ChunkEvent, { ou_id }: records.IngestEvents): records.ChunkEvent | null {
    if (event.linked_by === undefined) return event;
    const { linked_by, ...taken } = event;
    if (this.#aliases.hasClaimed(event.lead_id, linked_by)) return taken;
    this.#deletions.drop(ou_id, [taken]);
    return null;
  }

  #forward(leadId: string, events: readonly records.ChunkEvent[], command: records.IngestEvents): void {
    for (const part of inParts(events)) this.#send(leadId, { ...command, events: part });
  }

  /** The first lead to claim an alias gets it; a later claim changes nothing. */
  link({ takes_past, waiting, ...link }: records.LinkAlias, page: HistoryPage | undefined): void {
    const { ou_id, alias, alias_lead_id, lead_id, linked_at } = link;
    if (alias_lead_id === lead_id || this.#aliases.redirectOf(alias_lead_id)) {
      if (waiting) this.#send(lead_id, waiting);
      return;
    }
    this.#aliases.redirect(ou_id, alias_lead_id, { lead_id, alias }, linked_at);
    if (takes_past !== true) return;
    this.join({ ou_id, alias_lead_id, lead_id, linked_at, from: 0, ...(waiting && { waiting }) }, page);
  }

  /** Sends the next events of the visitor's past to the lead that it joins, and after the last of them the event that waits. */
  join(command: records.JoinLead, page: HistoryPage | undefined): void {
    const { ou_id, alias_lead_id, lead_id, linked_at, from, waiting } = command;
    const link = this.#aliases.redirectOf(alias_lead_id);
    if (link?.lead_id !== lead_id || link.linked_at !== linked_at) {
      // The lead was deleted, and the visitor with it. The event that waits was of that lead.
      if (waiting) this.#deletions.drop(ou_id, waiting.events);
      return;
    }
    // A page was read before the batch: it lacks what the batch has kept of the visitor, and has what the batch has deleted.
    if (!page || this.#output.hasKept(alias_lead_id) || this.#deletions.hasEnded(alias_lead_id)) {
      this.#continueJoining(command);
      return;
    }
    // Before there was a rule that known aliases come first, a visitor's lead may have been that of another person.
    const isPerson = from === 0 && page.records.some(({ aliases }) => !aliases.every(isAnonymous));
    if (!isPerson) {
      for (const past of pastOf(page.records, command)) this.#send(lead_id, past);
      if (page.next !== null) {
        this.#continueJoining({ ...command, from: page.next });
        return;
      }
      if (page.exists) this.#deletions.join(command);
    }
    if (waiting) this.#send(lead_id, waiting);
  }

  #continueJoining(payload: records.JoinLead): void {
    this.#output.commands.push({ lead_id: payload.alias_lead_id, command: { type: 'JoinLead', payload } });
  }

  #send(leadId: string, payload: records.IngestEvents): void {
    this.#output.commands.push({ lead_id: leadId, command: { type: 'IngestEvents', payload } });
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

/**
 * Records of a visitor's past as events of the lead that it joins, in few commands, because each costs much more than an event in it. They
 * fire no trigger: what they could fire, they have fired.
 */
function* pastOf(
  recorded: readonly records.EventsIngested[],
  join: records.JoinLead,
): Generator<records.IngestEvents> {
  for (let from = 0; from < recorded.length;) {
    const source = recorded[from]?.source ?? 'ingest';
    const other = recorded.findIndex((record, index) => index > from && record.source !== source);
    const end = other === -1 ? recorded.length : other;
    const events = recorded.slice(from, end).flatMap((record) => pastEventsOf(record, join));
    for (const part of inParts(events)) {
      const batch_id = part[0]?.batch_id;
      if (batch_id !== undefined)
        yield {
          ...{ ou_id: join.ou_id, batch_id, source, fire_triggers: false, received_at: join.linked_at },
          events: part,
        };
    }
    from = end;
  }
}

function pastEventsOf(
  { batch_id: batchOfAll, aliases, events }: records.EventsIngested,
  { lead_id, alias_lead_id }: records.JoinLead,
): records.ChunkEvent[] {
  const named = aliases.slice(0, 1);
  return events.map(({ id, event_id, event_type, timestamp, metadata, batch_id = batchOfAll }) => ({
    id,
    ...(event_id !== undefined && { event_id }),
    ...(isNameBasedId(id) && { may_repeat: true }),
    lead_id,
    aliases: named,
    event_type,
    timestamp,
    ...(metadata && { metadata }),
    batch_id,
    linked_by: alias_lead_id,
  }));
}
