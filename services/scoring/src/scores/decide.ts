// Decides what events give leads, and that a deleted lead has no score: pure. The decision is what is recorded; it is
// never evaluated again.
import { heldInRange, type records } from '@lead-scoring/contracts';
import type { DecisionSource } from './source-model.js';
import type { LeadCause, LeadEvent } from './messages.js';
import { ruleMatches, type CompiledRules } from './rule-model.js';

/** Matches in one record: some 350 KB. Events with more of them are decided in several records. */
const maximumMatches = 2_000;

/**
 * The decisions on what happened to leads, in order.
 * @param scoreBefore a lead's score before the batch; null for a lead that is not there
 * @param maximumMatches beyond it, a batch of several is not decided: null
 */
export function decideLeads(
  causes: readonly LeadCause[],
  scoreBefore: (ouId: string, leadId: string) => number | null,
  rulesOf: (ouId: string) => CompiledRules,
): LeadEvent[];
export function decideLeads(
  causes: readonly LeadCause[],
  scoreBefore: (ouId: string, leadId: string) => number | null,
  rulesOf: (ouId: string) => CompiledRules,
  maximumMatches: number,
): LeadEvent[] | null;
export function decideLeads(
  causes: readonly LeadCause[],
  scoreBefore: (ouId: string, leadId: string) => number | null,
  rulesOf: (ouId: string) => CompiledRules,
  maximumMatches = Infinity,
): LeadEvent[] | null {
  const scores = new Map<string, number | null>();
  const events: LeadEvent[] = [];
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
 * The decisions on one record of events, in order; more than one only when very many rules match.
 * @param previousScore the lead's score before; null for a lead that is not there
 */
export function decideScore(
  ingested: records.EventsIngested,
  previousScore: number | null,
  rules: CompiledRules,
  source?: DecisionSource,
): records.LeadScored[] {
  const decisions: records.LeadScored[] = [];
  let before = previousScore;
  let score = previousScore ?? 0;
  let held = 0;
  let part: records.EventsIngested['events'] = [];
  let scored: records.ScoredEvent[] = [];
  let matches = 0;
  const finish = () => {
    decisions.push({
      ...leadScored(ingested, part, scored, before, score, rules.version),
      ...(held !== 0 && { adjustments: [heldBack(held)] }),
      ...(source && { source }),
    });
    before = score;
    held = 0;
    part = [];
    scored = [];
    matches = 0;
  };
  for (const event of ingested.events) {
    const matched = scoreEvent(event, rules);
    if (part.length > 0 && matches + (matched?.matches.length ?? 0) > maximumMatches) finish();
    part.push(event);
    if (!matched) continue;
    scored.push(matched);
    matches += matched.matches.length;
    let reached = score;
    for (const match of matched.matches) reached += match.points;
    // Event by event, so that it makes no difference how events are put together in records.
    score = heldInRange(reached);
    held += score - reached;
  }
  finish();
  return decisions;
}

/** The points that keep a score within its range: what the rules gave beyond is taken back, and that is recorded. */
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

function leadScored(
  ingested: records.EventsIngested,
  events: records.EventsIngested['events'],
  scored: records.ScoredEvent[],
  previous: number | null,
  score: number,
  version: number,
): records.LeadScored {
  let first = events[0]?.timestamp ?? ingested.received_at;
  let last = first;
  for (const { timestamp } of events) {
    if (timestamp < first) first = timestamp;
    if (timestamp > last) last = timestamp;
  }
  return {
    ou_id: ingested.ou_id,
    lead_id: ingested.lead_id,
    ...(previous === null && { new_lead: true }),
    previous_score: previous ?? 0,
    score,
    configuration_version: version,
    event_count: events.length,
    fire_triggers: ingested.fire_triggers,
    aliases: ingested.aliases,
    ...(ingested.fields && { fields: ingested.fields }),
    first_activity_at: first,
    last_activity_at: last,
    decided_at: ingested.received_at,
    scored_events: scored,
  };
}
