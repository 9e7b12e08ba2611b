// Decides on incoming events, links of aliases and deletions. Pure. It decides on a batch at a time, so that a lead's events of one
// batch become one record. It drops repeats, forwards events of redirected leads, claims further aliases, and sends the past of a visitor
// to the person that an event has named.
import { isAnonymous, isNameBasedId, type records } from '@lead-scoring/contracts';
import { BatchAliases, nextPath } from './aliases-model.js';
import {
  bringMetadata,
  carryMetadata,
  divideMetadata,
  patchLead,
  type MetadataDecider,
} from './decide-metadata.js';
import { BatchDeletions } from './deletions-model.js';
import { inParts } from './groups-model.js';
import type { IntakeCommand, IntakeDecision } from './messages.js';
import { BatchMetadata } from './metadata-model.js';
import { BatchOutput } from './output-model.js';
import { BatchRepeats, isOfPast, repeatKeyOf } from './repeats-model.js';
import { SenderCounts } from './sender-counts-model.js';
import {
  dividedKey,
  historyKey,
  type DividedPage,
  type DividedPages,
  type HistoryPage,
  type HistoryPages,
  type LookedUpAliases,
  type StoredLead,
  type StoredRepeats,
} from './state.js';

/**
 * @param known the redirects of `possibleRedirects`, the claims of `possibleClaims` and of `possibleDeletions`, the counts of
 *   `possibleClaimers`, the leads of `possibleLeads` and of `possiblePatches`, the deletions of `possibleReturns`, and the metadata of
 *   `possibleMetadata`
 * @param stored the events of `possibleRepeats` that are stored
 * @param storedLeads the stored data of `possibleDeletions`, by lead
 * @param pages the next records of `possibleJoins`
 * @param divided the next records of `possibleDivisions`
 * @param aliasShare the most aliases that the leads of an OU may claim in this partition
 */
export function decideIntake(
  commands: readonly IntakeCommand[],
  known: LookedUpAliases,
  stored: StoredRepeats,
  storedLeads: ReadonlyMap<string, StoredLead> = new Map(),
  aliasShare = Infinity,
  pages: HistoryPages = new Map(),
  divided: DividedPages = new Map(),
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
      case 'MergeLead':
        batch.merge(command.payload);
        break;
      case 'UnmergeLead':
        batch.unmerge(command.payload);
        break;
      case 'DivideLead':
        batch.divide(command.payload);
        break;
      case 'SendDivided':
        batch.sendDivided(command.payload, divided.get(dividedKey(command.payload)));
        break;
      case 'DeleteLead':
        batch.delete(command);
        break;
      case 'PatchLeadMetadata':
        patchLead(command, batch);
        break;
      case 'CarryLeadMetadata':
        carryMetadata(command.payload, batch);
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

class IntakeBatch implements MetadataDecider {
  readonly output = new BatchOutput();
  readonly aliases: BatchAliases;
  readonly deletions: BatchDeletions;
  readonly metadata: BatchMetadata;
  readonly #senders = new SenderCounts();
  readonly #repeats: BatchRepeats;

  constructor(
    known: LookedUpAliases,
    stored: StoredRepeats,
    storedLeads: ReadonlyMap<string, StoredLead>,
    aliasShare: number,
  ) {
    this.#repeats = new BatchRepeats(stored, known);
    this.aliases = new BatchAliases(known, this.output, aliasShare);
    this.metadata = new BatchMetadata(known, this.output);
    this.deletions = new BatchDeletions(known, storedLeads, this.aliases, this.metadata, this.output);
  }

  ingest(whole: records.IngestEvents): void {
    const forwarded = new Map<string, records.ChunkEvent[]>();
    for (const sent of whole.events) {
      const event = this.#taken(sent, whole);
      if (!event) continue;
      const command = event.batch_id === undefined ? whole : { ...whole, batch_id: event.batch_id };
      // Checked before forwarding, because the event may have been stored here before the lead was redirected.
      const key = repeatKeyOf(event);
      if (key !== null && this.#repeats.isRepeat(key, isOfPast(sent))) {
        this.#repeats.drop(key, event, command);
        this.#senders.drop(event.lead_id, command);
        continue;
      }
      const destination = this.aliases.destinationOf(event);
      if (destination.to !== 'keep') {
        // The lead that forwards the event claims the event's further aliases, and keeps them when its own alias is unlinked.
        const claims = destination.to === 'forward';
        if (claims && this.#claimAliases(sent, event, command)) continue;
        const onward = {
          ...event,
          ...nextPath(event, destination),
          ...(claims && event.aliases.length > 1 && { claimed: true }),
        };
        const others = forwarded.get(destination.lead_id);
        if (others) others.push(onward);
        else forwarded.set(destination.lead_id, [onward]);
        continue;
      }
      if ('settles' in destination) {
        const settled = { ...destination.settles, lead_id: event.lead_id };
        this.aliases.redirect(command.ou_id, event.lead_id, settled, command.received_at);
      }
      if (this.#claimAliases(sent, event, command)) continue;
      if (key !== null) this.#repeats.keep(key, event, command);
      this.output.keep(event, command);
      this.#senders.keep(event.lead_id, command);
    }
    for (const [leadId, events] of forwarded) this.#forward(leadId, events, whole);
  }

  /** @returns whether the event waits. One that comes by a link, or again, has claimed its aliases before. */
  #claimAliases(
    { linked_by, claimed }: records.ChunkEvent,
    event: records.ChunkEvent,
    command: records.IngestEvents,
  ): boolean {
    return linked_by === undefined && claimed !== true && this.aliases.claimAliases(event, command);
  }

  /**
   * Drops an event whose lead was deleted after the event was sent to it. An event that comes by a link (`linked_by`) shows this when
   * the lead has not claimed the alias. An event that comes back from a divided lead (`after`) shows it when the lead's last deletion
   * is another one.
   */
  #taken(event: records.ChunkEvent, { ou_id }: records.IngestEvents): records.ChunkEvent | null {
    if (event.linked_by === undefined && event.after === undefined) return event;
    const { linked_by, after, ...taken } = event;
    const isGone =
      (linked_by !== undefined && !this.aliases.hasClaimed(event.lead_id, linked_by)) ||
      (after !== undefined && this.deletions.lastDeletionOf(event.lead_id) !== after);
    if (!isGone) return taken;
    this.deletions.drop(ou_id, [taken]);
    return null;
  }

  #forward(leadId: string, events: readonly records.ChunkEvent[], command: records.IngestEvents): void {
    for (const part of inParts(events)) this.#send(leadId, { ...command, events: part });
  }

  /** The first lead to claim an alias gets it; a later claim changes nothing. Only a merge links a known alias that has a lead. */
  link(
    { takes_past, merges, waiting, actor, ...link }: records.LinkAlias,
    page: HistoryPage | undefined,
  ): void {
    const { ou_id, alias, alias_lead_id, lead_id, linked_at } = link;
    const isLinked =
      merges === true ? this.aliases.isRedirected(alias_lead_id) : this.aliases.redirectOf(alias_lead_id);
    if (alias_lead_id === lead_id || isLinked) {
      if (waiting) this.#send(lead_id, waiting);
      return;
    }
    if (takes_past !== true && !isAnonymous(alias) && this.deletions.exists(ou_id, alias_lead_id)) {
      const conflict = { ou_id, alias, alias_lead_id, lead_id, named_at: linked_at };
      this.output.record({ type: 'LeadConflicted', payload: conflict });
      return;
    }
    this.aliases.redirect(ou_id, alias_lead_id, { lead_id, alias }, linked_at);
    if (takes_past !== true) return;
    const join = { ou_id, alias_lead_id, lead_id, linked_at, from: 0 };
    this.join({ ...join, ...(merges === true && { merges, actor }), ...(waiting && { waiting }) }, page);
  }

  /** Lets a lead join another because a caller says so. The job that asks sees where this is no longer possible. */
  merge(command: records.MergeLead): void {
    const { ou_id, lead_id, alias_lead_id } = command;
    if (alias_lead_id === lead_id || this.aliases.isRedirected(lead_id)) return;
    if (this.deletions.exists(ou_id, lead_id)) this.aliases.claimMerged(command);
  }

  /** Ends the link of a lead that was merged: from now on its events are its own. Those of before come back from the other lead. */
  unmerge(command: records.UnmergeLead): void {
    const { ou_id, alias_lead_id, unmerged_at, actor } = command;
    const link = this.aliases.redirectOf(alias_lead_id);
    if (!link || link.lead_id === alias_lead_id) return;
    const followed = this.deletions.lastDeletionOf(alias_lead_id);
    this.aliases.endLink(command, link);
    const { lead_id } = link;
    this.#divideAt(lead_id, {
      ou_id,
      lead_id,
      alias_lead_id,
      unmerged_at,
      followed,
      ...(actor && { actor }),
    });
  }

  /** Divides the lead, or that which it has joined: the command takes the way of the events that are under way. */
  divide(command: records.DivideLead): void {
    const { lead_id } = command;
    const joined = this.aliases.isRedirected(lead_id) ? this.aliases.redirectOf(lead_id)?.lead_id : undefined;
    if (joined === undefined) this.deletions.divide(command);
    else this.#divideAt(joined, { ...command, lead_id: joined });
  }

  #divideAt(leadId: string, payload: records.DivideLead): void {
    this.output.commands.push({ lead_id: leadId, command: { type: 'DivideLead', payload } });
  }

  /**
   * Sends the next events of a divided lead, each to the lead that it belongs to now. The division ends with an empty page. The command
   * of that page is behind the events that the lead gets back, so that the lead exists for links and patches in between.
   */
  sendDivided(command: records.SendDivided, page: DividedPage | undefined): void {
    const { ou_id, lead_id, alias_lead_id, unmerged_at: at, followed, after, deletion_id } = command;
    const goOn = (from: number) => {
      const payload = { ...command, from };
      this.output.commands.push({ lead_id, command: { type: 'SendDivided', payload } });
    };
    if (!page) {
      goOn(command.from);
      return;
    }
    for (const leaves of [false, true]) {
      const recorded = page.records.filter((one) => one.leaves === leaves).map(({ payload }) => payload);
      const event = leaves ? { lead_id: alias_lead_id, after: followed } : { lead_id, after };
      for (const past of pastOf(recorded, { ou_id, at, event })) this.#send(event.lead_id, past);
    }
    if (page.next !== null) {
      goOn(page.next);
      return;
    }
    divideMetadata(command, page.leaving, this);
    this.output.record({ type: 'LeadDivided', payload: { ou_id, lead_id, alias_lead_id, deletion_id } });
  }

  /** Sends the next events of the visitor's past to the lead that it joins, and after the last of them the event that waits. */
  join(command: records.JoinLead, page: HistoryPage | undefined): void {
    const { ou_id, alias_lead_id, lead_id, linked_at, from, waiting } = command;
    const link = this.aliases.redirectOf(alias_lead_id);
    if (link?.lead_id !== lead_id || link.linked_at !== linked_at) {
      // The link has ended: the lead was deleted, and the visitor with it, or a caller has ended the link. Without a new link the waiting
      // event is sent to the lead, which drops it if the lead was deleted. A new link is that of a new lead: the event is dropped here.
      if (waiting && link) this.deletions.drop(ou_id, waiting.events);
      else if (waiting) this.#send(lead_id, waiting);
      return;
    }
    // A page was read before the batch: it lacks what the batch has kept of the visitor, and has what the batch has deleted.
    if (!page || this.output.hasKept(alias_lead_id) || this.deletions.hasEnded(alias_lead_id)) {
      this.#continueJoining(command);
      return;
    }
    // Before the rule that known aliases come first, a visitor's lead could be another person's: a known alias in its records shows it.
    const isPerson =
      command.merges !== true &&
      from === 0 &&
      page.records.some(({ aliases }) => !aliases.every(isAnonymous));
    if (!isPerson) {
      const event = { lead_id, linked_by: alias_lead_id };
      for (const past of pastOf(page.records, { ou_id, at: linked_at, event })) this.#send(lead_id, past);
      if (page.next !== null) {
        this.#continueJoining({ ...command, from: page.next });
        return;
      }
      bringMetadata(command, this);
      if (page.exists) this.deletions.join(command);
    }
    if (waiting) this.#send(lead_id, waiting);
  }

  #continueJoining(payload: records.JoinLead): void {
    this.output.commands.push({ lead_id: payload.alias_lead_id, command: { type: 'JoinLead', payload } });
  }

  #send(leadId: string, payload: records.IngestEvents): void {
    this.output.commands.push({ lead_id: leadId, command: { type: 'IngestEvents', payload } });
  }

  /** Deletes the lead, or forwards the command as an event of the lead would be forwarded. */
  delete(command: Extract<IntakeCommand, { type: 'DeleteLead' }>): void {
    const { payload } = command;
    if (this.deletions.isRepeat(payload)) {
      this.output.replies.push({ to: command, reply: { outcome: 'done' } });
      return;
    }
    const destination = this.aliases.destinationOf(payload);
    if (destination.to === 'keep') this.deletions.delete(command);
    else
      this.output.commands.push({
        lead_id: destination.lead_id,
        command: { type: 'DeleteLead', payload: { ...payload, ...nextPath(payload, destination) } },
        answers: command,
      });
  }

  unlink(command: records.UnlinkAlias): void {
    this.deletions.unlink(command);
  }

  remember(payload: records.RememberEvents): void {
    this.#repeats.remember(payload);
    this.output.record({ type: 'EventsRemembered', payload });
  }

  decision(): IntakeDecision {
    this.output.endSection();
    for (const event of this.#repeats.events()) this.output.recordBetween(event);
    for (const event of this.aliases.refusals()) this.output.recordBetween(event);
    for (const event of this.#senders.events()) this.output.recordBetween(event);
    return this.output.decision();
  }
}

/** How a past is sent to a lead. */
interface PastTo {
  readonly ou_id: string;
  readonly at: string;
  /** What its events have in common. */
  readonly event: Pick<records.ChunkEvent, 'lead_id' | 'linked_by' | 'after'>;
}

/**
 * Turns records of a past into commands with the events of the lead that takes it. The commands are few, because a command costs much
 * more than an event in it. The events fire no trigger: they had their chance when they first came.
 */
function* pastOf(recorded: readonly records.EventsIngested[], to: PastTo): Generator<records.IngestEvents> {
  for (let from = 0; from < recorded.length;) {
    const source = recorded[from]?.source ?? 'ingest';
    const other = recorded.findIndex((record, index) => index > from && record.source !== source);
    const end = other === -1 ? recorded.length : other;
    const events = recorded.slice(from, end).flatMap((record) => pastEventsOf(record, to.event));
    for (const part of inParts(events)) {
      const batch_id = part[0]?.batch_id;
      if (batch_id !== undefined)
        yield {
          ...{ ou_id: to.ou_id, batch_id, source, fire_triggers: false, received_at: to.at },
          events: part,
        };
    }
    from = end;
  }
}

/** Further aliases that one event takes, besides the one under which it came. */
const furtherAliases = 9;

/** The aliases that were named in a record are spread over its events, which named no more than these can take. */
function pastEventsOf(
  { batch_id: batchOfAll, aliases: [named, ...further], events }: records.EventsIngested,
  common: PastTo['event'],
): records.ChunkEvent[] {
  return events.map(({ id, event_id, event_type, timestamp, metadata, batch_id = batchOfAll }, index) => ({
    id,
    ...(event_id !== undefined && { event_id }),
    ...(isNameBasedId(id) && { may_repeat: true }),
    ...common,
    aliases: [
      ...(named ? [named] : []),
      ...further.slice(index * furtherAliases, (index + 1) * furtherAliases),
    ],
    is_past: true,
    claimed: true,
    event_type,
    timestamp,
    ...(metadata && { metadata }),
    batch_id,
  }));
}
