// The output of a batch, in the order in which it is recorded. Events before and after a deletion must not be mixed: the events
// between two deletions are a section. Pure.
import type { records } from '@lead-scoring/contracts';
import { EventGroups } from './groups-model.js';
import type { IntakeDecision, IntakeEvent } from './messages.js';

export class BatchOutput {
  readonly commands: IntakeDecision['commands'] = [];
  readonly replies: IntakeDecision['replies'] = [];
  /** Events of the sections that have ended. */
  readonly #ended: IntakeEvent[] = [];
  #groups = new EventGroups();
  /** The events of this section that follow its records of ingested events. */
  #others: IntakeEvent[] = [];
  /** The ends of visitors who have joined persons in this section, by visitor; they come last. */
  readonly #joined = new Map<string, IntakeEvent>();

  /** Adds an event to the records of this section. */
  keep(event: records.ChunkEvent, command: records.IngestEvents): void {
    // An event that follows LeadDeleted belongs to a new lead: LeadDeleted is recorded before it.
    if (this.#joined.has(event.lead_id)) this.endSection();
    this.#groups.add(event, command);
  }

  /** Ends a visitor of whom this section has no events. Many visitors end in one section, because each section is folded by itself. */
  join(event: IntakeEvent & { type: 'LeadDeleted' }): void {
    this.#joined.set(event.payload.lead_id, event);
  }

  record(event: IntakeEvent): void {
    this.#others.push(event);
  }

  endSection(): void {
    for (const event of this.#groups.records()) this.#ended.push(event);
    for (const event of this.#others) this.#ended.push(event);
    for (const event of this.#joined.values()) this.#ended.push(event);
    this.#groups = new EventGroups();
    this.#others = [];
    this.#joined.clear();
  }

  /** Adds an event between two sections. */
  recordBetween(event: IntakeEvent): void {
    this.#ended.push(event);
  }

  /** Whether events of a lead were kept in this batch. */
  hasKept(leadId: string): boolean {
    return (
      this.#groups.hasEventsOf(leadId) ||
      this.#ended.some(({ type, payload }) => type === 'EventsIngested' && payload.lead_id === leadId)
    );
  }

  /** The ingested events of a lead in ended sections since its last deletion in this batch. */
  keptOf(leadId: string): records.EventsIngested[] {
    const since = this.#ended.findLastIndex(
      ({ type, payload }) => type === 'LeadDeleted' && payload.lead_id === leadId,
    );
    return this.#ended
      .slice(since + 1)
      .flatMap(({ type, payload }) =>
        type === 'EventsIngested' && payload.lead_id === leadId ? [payload] : [],
      );
  }

  /** Whether a lead of the OU has events of this batch, since its last deletion. */
  hasNow(ouId: string, leadId: string): boolean {
    return this.#groups.hasEventsOf(leadId) || this.keptOf(leadId).some(({ ou_id }) => ou_id === ouId);
  }

  decision(): IntakeDecision {
    return { events: this.#ended, commands: this.commands, replies: this.replies };
  }
}
