// A small model of the running system: partitions with queues, each with a state of its own.
import { nameBasedId } from '@lead-scoring/contracts';
import { decideIntake } from '../intake/decide.js';
import { addForeign } from '../intake/deletions-model.js';
import {
  possibleClaimers,
  possibleClaims,
  possibleDeletions,
  possibleJoins,
  possibleRedirects,
  possibleRepeats,
  possibleVisitors,
} from '../intake/lookups-model.js';
import type { IntakeCommand, IntakeEvent } from '../intake/messages.js';
import {
  addClaim,
  eventKey,
  historyKey,
  type AliasState,
  type HistoryPage,
  type HistoryPlace,
  type StoredLead,
  type LookedUpAliases,
} from '../intake/state.js';
import { emptyAliasState, evolveAliases } from './evolve.js';
import { deleteLead, ingest, leadOf, ouId, type SentEvent } from './builders.js';

export interface Partition {
  queue: IntakeCommand[];
  state: AliasState;
  log: IntakeEvent[];
}

export class Model {
  readonly partitions: Partition[];
  /** The event store, in which repeats are found. */
  readonly stored = new Set<string>();
  hops = 0;
  /** The leads of anonymous aliases, each with a lead of a known alias that an event named with it. */
  readonly named = new Set<string>();
  deletions = 0;
  /** The outcomes of the answers to each deletion. */
  readonly answers = new Map<string, string[]>();

  constructor(
    private readonly partitionCount: number,
    private readonly aliasShare = Infinity,
    /** Whether no partition knows of another's visitors that they have a past. */
    private readonly isBehind = false,
  ) {
    this.partitions = Array.from({ length: partitionCount }, () => ({
      queue: [],
      state: emptyAliasState(),
      log: [],
    }));
  }

  partitionOf(leadId: string): Partition {
    const partition = this.partitions[parseInt(leadId.slice(0, 8), 16) % this.partitionCount];
    if (!partition) throw new Error('no such partition');
    return partition;
  }

  send(event: SentEvent): void {
    const command = ingest([event]);
    this.partitionOf(command.payload.events[0]?.lead_id ?? '').queue.push(command);
  }

  delete(name: string): void {
    this.deletions += 1;
    this.partitionOf(leadOf(name)).queue.push(
      deleteLead(name, { deletion_id: nameBasedId(ouId, `deletion ${String(this.deletions)}`) }),
    );
  }

  /** A lead's records since its last deletion. */
  recordsOf(leadId: string): IntakeEvent[] {
    const { log } = this.partitionOf(leadId);
    const since = log.findLastIndex(
      ({ type, payload }) => type === 'LeadDeleted' && payload.lead_id === leadId,
    );
    return log
      .slice(since + 1)
      .filter(({ type, payload }) => type === 'EventsIngested' && payload.lead_id === leadId);
  }

  private storedLeadOf(leadId: string): StoredLead {
    const foreign = new Map<string, string[]>();
    for (const event of this.recordsOf(leadId))
      if (event.type === 'EventsIngested') addForeign(foreign, event.payload);
    const last = this.partitionOf(leadId).log.findLast(
      (event) => event.type === 'LeadDeleted' && event.payload.lead_id === leadId,
    );
    return {
      ou_id:
        this.recordsOf(leadId)[0]?.payload.ou_id ??
        (this.partitionOf(leadId).state.claims.has(leadId) ? ouId : null),
      deletion_id: last?.type === 'LeadDeleted' ? last.payload.deletion_id : null,
      foreign,
    };
  }

  private visitorsIn(commands: readonly IntakeCommand[]): Set<string> {
    const visitors = possibleVisitors(commands, { claims: new Map() });
    return new Set(this.isBehind ? [] : visitors.filter((lead) => this.recordsOf(lead).length > 0));
  }

  /** Two records at a time; records have the offsets of their places in the log. */
  private pageOf({ alias_lead_id, from }: HistoryPlace): HistoryPage {
    const { log } = this.partitionOf(alias_lead_id);
    const stored = this.recordsOf(alias_lead_id)
      .flatMap((event) => (event.type === 'EventsIngested' ? [event] : []))
      .map((event) => ({ payload: event.payload, offset: log.indexOf(event) }))
      .filter(({ offset }) => offset >= from);
    return {
      records: stored.slice(0, 2).map(({ payload }) => payload),
      exists: from > 0 || stored.length > 0,
      next: stored[2]?.offset ?? null,
    };
  }

  /** One batch of one partition, as a processor does it: decide, commit, fold. */
  step(partition: Partition, size: number): void {
    const commands = partition.queue.splice(0, size);
    const repeats = possibleRepeats(commands)
      .map(({ lead_id, id }) => eventKey(lead_id, id))
      .filter((key) => this.stored.has(key));
    const storedLeads = new Map(
      possibleDeletions(commands).map((leadId) => [leadId, this.storedLeadOf(leadId)]),
    );
    const decision = decideIntake(
      commands,
      { ...lookedUp(partition.state, commands), visitors: this.visitorsIn(commands) },
      new Map(repeats.map((key) => [key, null])),
      storedLeads,
      this.aliasShare,
      new Map(possibleJoins(commands).map((join) => [historyKey(join), this.pageOf(join)])),
    );
    for (const { to, reply } of decision.replies) {
      if (to.type !== 'DeleteLead') throw new Error('only deletions are answered');
      const { deletion_id } = to.payload;
      this.answers.set(deletion_id, [...(this.answers.get(deletion_id) ?? []), reply.outcome]);
    }
    for (const { lead_id, command } of decision.commands) {
      if (command.type === 'IngestEvents') this.hops += 1;
      if (command.type === 'LinkAlias' && command.payload.takes_past === true)
        this.named.add(`${command.payload.alias_lead_id} ${command.payload.lead_id}`);
      this.partitionOf(lead_id).queue.push(command);
    }
    for (const event of decision.events) this.fold(partition, event);
  }

  private fold(partition: Partition, event: IntakeEvent): void {
    partition.log.push(event);
    evolveAliases(partition.state, event);
    if (event.type === 'EventsRemembered')
      for (const id of event.payload.event_ids) this.stored.add(eventKey(event.payload.lead_id, id));
    if (event.type !== 'EventsIngested') return;
    for (const { id } of event.payload.events) this.stored.add(eventKey(event.payload.lead_id, id));
  }

  /** A crash: the state is thrown away and folded anew from the partition's own events. */
  restart(partition: Partition): void {
    partition.state = emptyAliasState();
    for (const event of partition.log) evolveAliases(partition.state, event);
  }

  drain(): void {
    for (let rounds = 0; this.partitions.some(({ queue }) => queue.length > 0); rounds += 1) {
      if (rounds > 10_000) throw new Error('forwarding does not end');
      for (const partition of this.partitions) if (partition.queue.length > 0) this.step(partition, 3);
    }
  }

  /** The events that were kept, without the copies at visitors who have joined other leads since. */
  keptIds(): string[] {
    return this.partitions.flatMap(({ log }) =>
      log.flatMap((event, offset) =>
        event.type === 'EventsIngested' && !hasJoined(log, event.payload.lead_id, offset)
          ? event.payload.events.map(({ id }) => id)
          : [],
      ),
    );
  }

  everKeptIds(): ReadonlySet<string> {
    return new Set(
      this.partitions.flatMap(({ log }) =>
        log.flatMap((event) =>
          event.type === 'EventsIngested' ? event.payload.events.map(({ id }) => id) : [],
        ),
      ),
    );
  }
}

/** Whether the next end of a lead after a place in the log is that it has joined another. */
function hasJoined(log: readonly IntakeEvent[], leadId: string, offset: number): boolean {
  const end = log.find(
    ({ type, payload }, at) => at > offset && type === 'LeadDeleted' && payload.lead_id === leadId,
  );
  return end?.type === 'LeadDeleted' && end.payload.joined_to !== undefined;
}

/** The part of a state that a partition looks up: the laws must hold with this part alone. */
export function lookedUp(
  state: AliasState,
  commands: readonly IntakeCommand[],
): Omit<LookedUpAliases, 'visitors'> {
  const redirects = new Map(
    possibleRedirects(commands).flatMap((id) => {
      const redirect = state.redirects.get(id);
      return redirect ? [[id, redirect] as const] : [];
    }),
  );
  const claims: AliasState['claims'] = new Map();
  for (const { lead_id, alias_lead_id } of possibleClaims(commands))
    if (state.claims.get(lead_id)?.has(alias_lead_id)) addClaim(claims, lead_id, alias_lead_id);
  for (const leadId of possibleDeletions(commands))
    for (const aliasLeadId of state.claims.get(leadId) ?? []) addClaim(claims, leadId, aliasLeadId);
  const counts = new Map(
    [...possibleClaimers(commands)].flatMap((ouId) => {
      const count = state.counts.get(ouId);
      return count === undefined ? [] : [[ouId, count] as const];
    }),
  );
  return { redirects, claims, counts };
}
