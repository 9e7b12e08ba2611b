// Decides the points of leads' events, and the removal of deleted leads: pure. The decision is recorded, and rules are never
// evaluated again for the same record.
import type { records } from '@lead-scoring/contracts';
import { heldInRange } from '@lead-scoring/scoring-domain';
import type { DecisionSource } from './source-model.js';
import type { CausedEvent, LeadCause } from './messages.js';
import { ruleMatches, type CompiledRules } from './rule-model.js';

/** The largest number of matches in one record, some 350 KB. Events with more are decided in several records. */
const maximumMatches = 2_000;

/**
 * The decisions on the causes, in order.
 * @param scoreBefore a lead's score before the batch; null for a lead that does not exist
 * @param maximumMatches if several causes have more matches, the result is null
 */
export function decideLeads(
  causes: readonly LeadCause[],
  scoreBefore: (ouId: string, leadId: string) => number | null,
  rulesOf: (ouId: string) => CompiledRules,
): CausedEvent[];
export function decideLeads(
  causes: readonly LeadCause[],
  scoreBefore: (ouId: string, leadId: string) => number | null,
  rulesOf: (ouId: string) => CompiledRules,
  maximumMatches: number,
): CausedEvent[] | null;
export function decideLeads(
  causes: readonly LeadCause[],
  scoreBefore: (ouId: string, leadId: string) => number | null,
  rulesOf: (ouId: string) => CompiledRules,
  maximumMatches = Infinity,
): CausedEvent[] | null {
  const scores = new Map<string, number | null>();
  const events: CausedEvent[] = [];
  let matches = 0;
  for (const { type, payload, source } of causes) {
    const { ou_id, lead_id } = payload;
    const name = `${ou_id}/${lead_id}`;
    const known = scores.get(name);
    const before = known === undefined ? scoreBefore(ou_id, lead_id) : known;
    if (type === 'LeadDeleted') {
      if (before !== null)
        events.push({ type: 'LeadRemoved', payload: leadRemoved(payload, before, source) });
      scores.set(name, null);
      continue;
    }
    for (const decision of decideScore(payload, before, rulesOf(ou_id), source)) {
      scores.set(name, decision.score);
      for (const scored of decision.scored_events) matches += scored.matches.length;
      events.push({ type: 'LeadScored', payload: decision });
    }
    if (matches > maximumMatches && causes.length > 1) return null;
  }
  return events;
}

function leadRemoved(
  { ou_id, lead_id, deletion_id, deleted_at }: records.LeadDeleted,
  previous_score: number,
  source: DecisionSource | undefined,
): records.LeadRemoved {
  return { ou_id, lead_id, previous_score, deletion_id, removed_at: deleted_at, ...(source && { source }) };
}

/**
 * The decisions on one record of events, in order; more than one only if very many rules match.
 * @param previousScore the lead's score before; null for a lead that does not exist
 */
export function decideScore(
  ingested: records.EventsIngested,
  previousScore: number | null,
  rules: CompiledRules,
  source?: DecisionSource,
): records.LeadScored[] {
  const decisions: records.LeadScored[] = [];
  let part = new DecisionPart(previousScore);
  for (const event of ingested.events) {
    const scored = scoreEvent(event, rules);
    if (!part.takes(scored)) {
      decisions.push(part.decision(ingested, rules.version, source));
      part = new DecisionPart(part.score);
    }
    part.add(event, scored);
  }
  decisions.push(part.decision(ingested, rules.version, source));
  return decisions;
}

/** The events of one record that share a decision. */
class DecisionPart {
  score: number;
  readonly #events: records.EventsIngested['events'] = [];
  readonly #scored: records.ScoredEvent[] = [];
  #matches = 0;
  /** The points that keep the score within its range: the difference to the points of the rules. */
  #held = 0;

  /** @param previousScore the lead's score before; null for a lead that does not exist */
  constructor(private readonly previousScore: number | null) {
    this.score = previousScore ?? 0;
  }

  /** Whether the event's matches fit into the decision; those of the first event always do. */
  takes(scored: records.ScoredEvent | null): boolean {
    return this.#events.length === 0 || this.#matches + (scored?.matches.length ?? 0) <= maximumMatches;
  }

  add(event: records.EventsIngested['events'][number], scored: records.ScoredEvent | null): void {
    this.#events.push(event);
    if (!scored) return;
    this.#scored.push(scored);
    this.#matches += scored.matches.length;
    let reached = this.score;
    for (const { points } of scored.matches) reached += points;
    // Limited event by event, so that the division of events into records makes no difference.
    this.score = heldInRange(reached);
    this.#held += this.score - reached;
  }

  decision(
    ingested: records.EventsIngested,
    version: number,
    source: DecisionSource | undefined,
  ): records.LeadScored {
    const { ou_id, lead_id, received_at, fire_triggers, aliases, fields } = ingested;
    const { first, last } = activityOf(this.#events, received_at);
    return {
      ou_id,
      lead_id,
      ...(this.previousScore === null && { new_lead: true }),
      previous_score: this.previousScore ?? 0,
      score: this.score,
      configuration_version: version,
      event_count: this.#events.length,
      fire_triggers,
      aliases,
      ...(fields && { fields }),
      first_activity_at: first,
      last_activity_at: last,
      decided_at: received_at,
      scored_events: this.#scored,
      ...(this.#held !== 0 && { adjustments: [heldBack(this.#held)] }),
      ...(source && { source }),
    };
  }
}

/** The recorded adjustment that keeps a score within its range. */
function heldBack(points: number): records.ScoreAdjustment {
  return { reason: points < 0 ? 'held_at_largest_score' : 'held_at_smallest_score', points };
}

function scoreEvent(
  { id, event_type, timestamp, metadata }: records.EventsIngested['events'][number],
  rules: CompiledRules,
): records.ScoredEvent | null {
  let matches: records.ScoredEvent['matches'] | null = null;
  for (const compiled of rules.of(event_type)) {
    if (!ruleMatches(compiled, timestamp, metadata)) continue;
    const { rule } = compiled;
    (matches ??= []).push({
      rule_id: rule.id,
      rule_version: rule.version,
      ruleset_id: rule.ruleset_id,
      points: rule.weight,
    });
  }
  return matches && { event_id: id, event_type, timestamp, matches };
}

/** The times of the earliest and of the latest event. */
function activityOf(
  events: records.EventsIngested['events'],
  receivedAt: string,
): { first: string; last: string } {
  let first = events[0]?.timestamp ?? receivedAt;
  let last = first;
  for (const { timestamp } of events) {
    if (timestamp < first) first = timestamp;
    if (timestamp > last) last = timestamp;
  }
  return { first, last };
}
