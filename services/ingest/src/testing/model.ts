// A small model of the running system: partitions with queues, each with a state of its own.
import { isAnonymous, leadIdOf, nameBasedId, type JsonObject, type records } from '@lead-scoring/contracts';
import { decideIntake } from '../intake/decide.js';
import { addForeign } from '../intake/deletions-model.js';
import {
  possibleClaimers,
  possibleClaims,
  possibleDeletions,
  possibleDivisions,
  possibleJoins,
  possibleLeads,
  possibleMetadata,
  possiblePatches,
  possiblePasts,
  possibleRedirects,
  possibleRepeats,
  possibleReturns,
  possibleVisitors,
} from '../intake/lookups-model.js';
import type { IntakeCommand, IntakeEvent } from '../intake/messages.js';
import { evolveMetadata } from '../intake/metadata-model.js';
import {
  addClaim,
  dividedKey,
  eventKey,
  historyKey,
  type AliasState,
  type DividedPage,
  type HistoryPage,
  type HistoryPlace,
  type KnownMetadata,
  type StoredLead,
  type LookedUpLinks,
} from '../intake/state.js';
import { emptyAliasState, evolveAliases } from './evolve.js';
import { aliasOf, deleteLead, ingest, leadOf, ouId, receivedAt, type SentEvent } from './builders.js';

/** The credentials that send the model's events, in turn. */
const senders = ['token:one', 'service_account:two'];

function senderOf(turn: number): string {
  return senders[turn % senders.length] ?? '';
}

export interface Partition {
  queue: IntakeCommand[];
  state: AliasState;
  /** What is set for leads. */
  metadata: Map<string, KnownMetadata>;
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
  sends = 0;
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
      metadata: new Map(),
      log: [],
    }));
  }

  partitionOf(leadId: string): Partition {
    const partition = this.partitions[parseInt(leadId.slice(0, 8), 16) % this.partitionCount];
    if (!partition) throw new Error('no such partition');
    return partition;
  }

  send(event: SentEvent): void {
    const { type, payload } = ingest([event]);
    this.sends += 1;
    const command: IntakeCommand = { type, payload: { ...payload, sent_by: senderOf(this.sends) } };
    this.partitionOf(payload.events[0]?.lead_id ?? '').queue.push(command);
  }

  delete(name: string): void {
    this.deletions += 1;
    this.partitionOf(leadOf(name)).queue.push(
      deleteLead(name, { deletion_id: nameBasedId(ouId, `deletion ${String(this.deletions)}`) }),
    );
  }

  patches = 0;
  /** The answers to each patch. */
  readonly patched = new Map<string, { outcome: string; lead_id?: string | undefined }[]>();

  /** @returns the id of the patch */
  patch(name: string, patch: JsonObject): string {
    this.patches += 1;
    const patch_id = nameBasedId(ouId, `patch ${String(this.patches)}`);
    const payload = { ou_id: ouId, lead_id: leadOf(name), patch_id, patch, requested_at: this.#moment() };
    this.partitionOf(leadOf(name)).queue.push({ type: 'PatchLeadMetadata', payload });
    return patch_id;
  }

  metadataOf(leadId: string): KnownMetadata | undefined {
    return this.partitionOf(leadId).metadata.get(leadId);
  }

  /**
   * A caller merges two leads, or takes the merge of one back, as the job does it: one at a time, and only where it makes sense.
   * @returns whether it is asked for
   */
  merge(source: string, target: string): boolean {
    const [from, to] = [leadOf(source), leadOf(target)];
    const isPossible =
      this.isIdle() &&
      from !== to &&
      !isAnonymous(aliasOf(target)) &&
      this.linkOf(from) === from &&
      this.linkOf(to) === to &&
      [from, to].every((lead) => this.recordsOf(lead).length > 0);
    if (!isPossible) return false;
    this.merges += 1;
    const merged_at = this.#moment();
    const payload = { ou_id: ouId, lead_id: to, alias: aliasOf(source), alias_lead_id: from, merged_at };
    this.partitionOf(to).queue.push({ type: 'MergeLead', payload });
    this.#underWay = { from, is: () => this.linkOf(from) === to && this.recordsOf(from).length === 0 };
    return true;
  }

  /** @returns whether it is asked for */
  unmerge(source: string): boolean {
    const from = leadOf(source);
    if (!this.isIdle() || this.linkOf(from) === from || this.recordsOf(from).length > 0) return false;
    this.merges += 1;
    const unmerged_at = this.#moment();
    const payload = { ou_id: ouId, alias_lead_id: from, unmerged_at };
    this.partitionOf(from).queue.push({ type: 'UnmergeLead', payload });
    this.#underWay = { from, is: () => this.linkOf(from) === from && this.divisions() === 0 };
    return true;
  }

  merges = 0;
  #underWay: { from: string; is: () => boolean } | null = null;

  #moment(): string {
    return new Date(Date.parse(receivedAt) + this.merges * 1_000).toISOString();
  }

  /** Whether the last merge has ended. One whose leads are deleted meanwhile ends as well, once nothing is under way. */
  isIdle(): boolean {
    const hasEnded =
      this.#underWay === null ||
      this.#underWay.is() ||
      this.partitions.every(({ queue }) => queue.every(({ type }) => !mergeCommands.has(type)));
    if (hasEnded) this.#underWay = null;
    return hasEnded;
  }

  /** Divisions whose events are not all sent. */
  private divisions(): number {
    return this.partitions.reduce(
      (sum, { queue }) =>
        sum + queue.filter(({ type }) => type === 'DivideLead' || type === 'SendDivided').length,
      0,
    );
  }

  linkOf(leadId: string): string {
    return this.partitionOf(leadId).state.redirects.get(leadId)?.lead_id ?? leadId;
  }

  /** The lead to which the events of an alias come. */
  destinationOf(leadId: string): string {
    let lead = leadId;
    for (let hops = 0; hops < 20 && this.linkOf(lead) !== lead; hops += 1) lead = this.linkOf(lead);
    return lead;
  }

  /** Two records of a lead at a time, of those before its division. */
  private dividedPageOf(division: records.SendDivided): DividedPage {
    const { lead_id, alias_lead_id, deletion_id, from } = division;
    const { log } = this.partitionOf(lead_id);
    const isEnd = (event: IntakeEvent) => event.type === 'LeadDeleted' && event.payload.lead_id === lead_id;
    const end = log.findIndex(
      (event) => isEnd(event) && (event.payload as { deletion_id?: string }).deletion_id === deletion_id,
    );
    const begin = log.slice(0, end).findLastIndex(isEnd);
    const recorded = log
      .map((event, offset) => ({ event, offset }))
      .slice(begin + 1, end)
      .flatMap(({ event, offset }) =>
        event.type === 'EventsIngested' && event.payload.lead_id === lead_id && offset >= from
          ? [{ payload: event.payload, offset }]
          : [],
      );
    const leaves = (leadId: string) => {
      let lead = leadId;
      for (let hops = 0; hops < 20 && lead !== alias_lead_id && this.linkOf(lead) !== lead; hops += 1)
        lead = this.linkOf(lead);
      return lead === alias_lead_id;
    };
    const namedLeadOf = ({ aliases: [named] }: records.EventsIngested) =>
      named ? leadIdOf(ouId, named.alias_kind, named.alias) : lead_id;
    const joined = this.metadataOf(lead_id)?.joined ?? [];
    const page = recorded.slice(0, 2);
    const last = page.at(-1);
    return {
      records: page.map(({ payload }) => ({ payload, leaves: leaves(namedLeadOf(payload)) })),
      next: last ? last.offset + 1 : null,
      leaving: new Set(joined.map((one) => one.lead_id).filter(leaves)),
    };
  }

  /** The last deletion, without the ends of leads that have joined others or were divided. */
  private deletionOf(leadId: string): string | undefined {
    const last = this.partitionOf(leadId).log.findLast(
      (event) =>
        event.type === 'LeadDeleted' &&
        event.payload.lead_id === leadId &&
        event.payload.joined_to === undefined,
    );
    return last?.type === 'LeadDeleted' ? last.payload.deletion_id : undefined;
  }

  /** From its division until all of its events are sent again: also for a batch that sends the last of them. */
  private isDivided(leadId: string): boolean {
    const last = this.partitionOf(leadId).log.findLast(
      ({ type, payload }) =>
        payload.lead_id === leadId &&
        (type === 'LeadDivided' || (type === 'LeadDeleted' && payload.joined_to === leadId)),
    );
    return last?.type === 'LeadDeleted';
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
    return { ou_id: this.ouOf(leadId), deletion_id: this.deletionOf(leadId) ?? null, foreign };
  }

  private ouOf(leadId: string): string | null {
    const exists =
      this.recordsOf(leadId).length > 0 ||
      this.partitionOf(leadId).state.claims.has(leadId) ||
      this.isDivided(leadId);
    return exists ? ouId : null;
  }

  private keptSince(commands: readonly IntakeCommand[]): Set<string> {
    const isKept = ({ lead_id, id }: { lead_id: string; id: string }) =>
      this.recordsOf(lead_id).some(
        (event) => event.type === 'EventsIngested' && event.payload.events.some((one) => one.id === id),
      );
    return new Set(
      possiblePasts(commands)
        .filter(isKept)
        .map(({ lead_id, id }) => eventKey(lead_id, id)),
    );
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
      {
        ...lookedUp(partition.state, commands),
        visitors: this.visitorsIn(commands),
        keptSince: this.keptSince(commands),
        leads: present(possibleLeads(commands), (lead) => this.ouOf(lead) ?? undefined),
        deletions: present(possibleReturns(commands), (lead) => this.deletionOf(lead)),
        eventful: present(possiblePatches(commands), (lead) =>
          this.recordsOf(lead).length > 0 || this.isDivided(lead) ? ouId : undefined,
        ),
        metadata: present(possibleMetadata(commands), (lead) => partition.metadata.get(lead)),
      },
      new Map(repeats.map((key) => [key, null])),
      storedLeads,
      this.aliasShare,
      new Map(possibleJoins(commands).map((join) => [historyKey(join), this.pageOf(join)])),
      new Map(possibleDivisions(commands).map((one) => [dividedKey(one), this.dividedPageOf(one)])),
    );
    for (const { to, reply } of decision.replies) {
      if (to.type === 'PatchLeadMetadata') {
        const { patch_id } = to.payload;
        const answer = {
          outcome: reply.outcome,
          lead_id: reply.outcome === 'done' ? reply.result?.lead_id : undefined,
        };
        this.patched.set(patch_id, [...(this.patched.get(patch_id) ?? []), answer]);
        continue;
      }
      if (to.type !== 'DeleteLead') throw new Error('only deletions and patches are answered');
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
    evolveAllMetadata(partition.metadata, event);
    if (event.type === 'EventsRemembered')
      for (const id of event.payload.event_ids) this.stored.add(eventKey(event.payload.lead_id, id));
    if (event.type !== 'EventsIngested') return;
    for (const { id } of event.payload.events) this.stored.add(eventKey(event.payload.lead_id, id));
  }

  /** A crash: the state is thrown away and folded anew from the partition's own events. */
  restart(partition: Partition): void {
    partition.state = emptyAliasState();
    partition.metadata = new Map();
    for (const event of partition.log) {
      evolveAliases(partition.state, event);
      evolveAllMetadata(partition.metadata, event);
    }
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

/** Folds what is set for leads, as the projection does. */
export function evolveAllMetadata(
  metadata: Map<string, KnownMetadata>,
  { type, payload }: IntakeEvent,
): void {
  if (type === 'LeadMetadataPatched')
    metadata.set(payload.lead_id, evolveMetadata(metadata.get(payload.lead_id), payload));
  else if (type === 'LeadDeleted' && payload.joined_to !== payload.lead_id) metadata.delete(payload.lead_id);
}

const mergeCommands: ReadonlySet<string> = new Set([
  ...['MergeLead', 'UnmergeLead', 'LinkAlias', 'JoinLead', 'DivideLead', 'SendDivided'],
]);

function present<Value>(
  keys: readonly string[],
  valueOf: (key: string) => Value | undefined,
): Map<string, Value> {
  return new Map(
    keys.flatMap((key) => {
      const value = valueOf(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** Whether the next end of a lead after a place in the log is that it has joined another. */
function hasJoined(log: readonly IntakeEvent[], leadId: string, offset: number): boolean {
  const end = log.find(
    ({ type, payload }, at) => at > offset && type === 'LeadDeleted' && payload.lead_id === leadId,
  );
  return end?.type === 'LeadDeleted' && end.payload.joined_to !== undefined;
}

/** The part of a state that a partition looks up: the laws must hold with this part alone. */
export function lookedUp(state: AliasState, commands: readonly IntakeCommand[]): LookedUpLinks {
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
