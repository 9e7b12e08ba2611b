// Decides the points of leads' events, and the removal of deleted leads: pure. The decision is recorded, and rules are never
// evaluated again for the same record.
import { overridingFieldsOf, type records } from '@lead-scoring/contracts';
import { heldInRange, withDecision, type DecayingLead } from '@lead-scoring/scoring-domain';
import { decideTicks, dueAfter } from '../decays/decide-ticks.js';
import { decayAfterScored, lastScoredAt } from '../decays/decay-fold.js';
import { withLimitUses } from './use-model.js';
import { DecisionLimits, type LimitedLead } from './limits-model.js';
import type { DecisionSource } from './source-model.js';
import type { LeadCause, LeadEvent } from './messages.js';
import { ruleMatches, type CompiledRules } from './rule-model.js';

/** What a decision needs to know of a lead. */
export interface LeadBefore extends Partial<LimitedLead>, Omit<DecayingLead, 'rulesets'> {
  readonly score: number;
  /** Of any of its events: known of every lead that is recorded. */
  readonly last_activity_at?: string;
}

/** The largest number of matches in one record, some 350 KB. Events with more are decided in several records. */
const maximumMatches = 2_000;

/**
 * The decisions on the causes, in order.
 * @param leadBefore a lead before the batch; null for a lead that does not exist
 * @param maximumMatches if several causes have more matches, the result is null
 */
export function decideLeads(
  causes: readonly LeadCause[],
  leadBefore: (ouId: string, leadId: string) => LeadBefore | null,
  rulesOf: (ouId: string) => CompiledRules,
): LeadEvent[];
export function decideLeads(
  causes: readonly LeadCause[],
  leadBefore: (ouId: string, leadId: string) => LeadBefore | null,
  rulesOf: (ouId: string) => CompiledRules,
  maximumMatches: number,
): LeadEvent[] | null;
export function decideLeads(
  causes: readonly LeadCause[],
  leadBefore: (ouId: string, leadId: string) => LeadBefore | null,
  rulesOf: (ouId: string) => CompiledRules,
  maximumMatches = Infinity,
): LeadEvent[] | null {
  const leads = new Map<string, LeadBefore | null>();
  const events: LeadEvent[] = [];
  let matches = 0;
  for (const { type, payload, source } of causes) {
    const { ou_id, lead_id } = payload;
    const name = `${ou_id}/${lead_id}`;
    const known = leads.get(name);
    const before = known === undefined ? leadBefore(ou_id, lead_id) : known;
    if (type === 'LeadDeleted') {
      if (before !== null)
        events.push({ type: 'LeadRemoved', payload: leadRemoved(payload, before.score, source) });
      leads.set(name, null);
      continue;
    }
    const rules = rulesOf(ou_id);
    if (type === 'LeadMetadataPatched') {
      // A lead that is not there yet, or no more, is told of once its events have come.
      if (before === null) continue;
      const known = leadBefore(ou_id, lead_id);
      const activity = lastActivityOf(lead_id, known, events) ?? payload.patched_at;
      const decision = leadPatched(payload, before.score, { activity, version: rules.version, source });
      leads.set(name, afterDecision(before, decision, rules));
      events.push({ type: 'LeadScored', payload: decision });
      continue;
    }
    let lead = before;
    if (rules.decays && before) {
      const overdue = overdueTicks(payload, before, rules);
      lead = overdue.lead;
      for (const tick of overdue.events) events.push({ type: 'ScoreAdjusted', payload: tick });
    }
    for (const decision of decideScore(payload, lead, rules, source)) {
      lead = afterDecision(lead, decision, rules);
      leads.set(name, lead);
      for (const scored of decision.scored_events) matches += scored.matches.length;
      events.push({ type: 'LeadScored', payload: decision });
    }
    if (matches > maximumMatches && causes.length > 1) return null;
  }
  return events;
}

/** The ticks that were due when the events came. They are decided first, so that it does not matter when ticks are run. */
function overdueTicks(
  { ou_id, lead_id, received_at }: records.EventsIngested,
  before: LeadBefore,
  rules: CompiledRules,
) {
  return decideTicks({ ou_id, lead_id }, { ...before, rulesets: before.rulesets ?? [] }, rules, {
    upTo: received_at,
    decidedAt: received_at,
  });
}

/** The time of a lead's latest event, as far as a batch is decided. */
function lastActivityOf(
  leadId: string,
  before: LeadBefore | null,
  decided: readonly LeadEvent[],
): string | undefined {
  let last = before?.last_activity_at;
  for (const { type, payload } of decided) {
    if (payload.lead_id !== leadId) continue;
    if (type === 'LeadRemoved') last = undefined;
    else if (type === 'LeadScored' && (last === undefined || payload.last_activity_at > last))
      last = payload.last_activity_at;
  }
  return last;
}

/**
 * The decision on metadata that was set for a lead. It moves no engagement score; points of its profile follow.
 * @param activity the time of the lead's latest event: a patch is no activity
 */
function leadPatched(
  { ou_id, lead_id, metadata, patched_at, fire_triggers }: records.LeadMetadataPatched,
  score: number,
  {
    activity,
    version: configuration_version,
    source,
  }: { activity: string; version: number; source: DecisionSource | undefined },
): records.LeadScored {
  return {
    ou_id,
    lead_id,
    previous_score: score,
    score,
    configuration_version,
    event_count: 0,
    fire_triggers,
    aliases: [],
    overrides: overridingFieldsOf(metadata, patched_at),
    first_activity_at: activity,
    last_activity_at: activity,
    decided_at: patched_at,
    scored_events: [],
    ...(source && { source }),
  };
}

function leadRemoved(
  { ou_id, lead_id, deletion_id, deleted_at, joined_to }: records.LeadDeleted,
  previous_score: number,
  source: DecisionSource | undefined,
): records.LeadRemoved {
  return {
    ou_id,
    lead_id,
    previous_score,
    deletion_id,
    removed_at: deleted_at,
    ...(joined_to !== undefined && { joined_to }),
    ...(source && { source }),
  };
}

/**
 * The decisions on one record of events, in order; more than one only if very many rules match.
 * @param before null for a lead that does not exist
 */
export function decideScore(
  ingested: records.EventsIngested,
  before: LeadBefore | null,
  rules: CompiledRules,
  source?: DecisionSource,
): records.LeadScored[] {
  const decisions: records.LeadScored[] = [];
  let lead = before;
  let part = new DecisionPart(lead, rules);
  for (const event of ingested.events) {
    const scored = scoreEvent(event, rules);
    if (!part.takes(scored)) {
      const decision = withDueAt(part.decision(ingested, source), lead, rules);
      decisions.push(decision);
      lead = afterDecision(lead, decision, rules);
      part = new DecisionPart(lead, rules);
    }
    part.add(event, scored);
  }
  decisions.push(withDueAt(part.decision(ingested, source), lead, rules));
  return decisions;
}

/** Records when decay takes points next. */
function withDueAt(
  decision: records.LeadScored,
  before: LeadBefore | null,
  rules: CompiledRules,
): records.LeadScored {
  if (!rules.decays) return decision;
  const after = afterDecision(before, { ...decision, decay_due_at: null }, rules);
  return { ...decision, decay_due_at: dueAfter({ ...after, rulesets: after.rulesets ?? [] }, rules) };
}

/** What the next decision by the same rules needs to know: the same as if the lead had been folded in between. */
function afterDecision(
  before: LeadBefore | null,
  decision: records.LeadScored,
  { limits, decays }: CompiledRules,
): LeadBefore {
  // Without limits and decay rules the score is enough.
  if (!limits && !decays) return decision;
  return {
    score: decision.score,
    rulesets: withDecision(before?.rulesets ?? [], decision),
    limit_uses: withLimitUses(before?.limit_uses, decision.limit_uses),
    ...(decays && {
      last_scored_at: lastScoredAt(before?.last_scored_at, decision),
      decay: decayAfterScored(before?.decay, decision),
    }),
  };
}

/** The events of one record that share a decision. */
class DecisionPart {
  score: number;
  readonly #events: records.EventsIngested['events'] = [];
  readonly #scored: records.ScoredEvent[] = [];
  #matches = 0;
  /** The points that keep the score within its range: the difference to the points of the rules. */
  #held = 0;
  readonly #limits: DecisionLimits | null;

  /** @param before null for a lead that does not exist */
  constructor(
    private readonly before: LeadBefore | null,
    private readonly rules: CompiledRules,
  ) {
    this.score = before?.score ?? 0;
    this.#limits = rules.limits && new DecisionLimits(rules.limits, before);
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
    if (this.#limits) reached += this.#limits.hold(event, scored);
    // Limited event by event, so that the division of events into records makes no difference.
    this.score = heldInRange(reached);
    this.#held += this.score - reached;
  }

  decision(ingested: records.EventsIngested, source: DecisionSource | undefined): records.LeadScored {
    const { ou_id, lead_id, received_at, fire_triggers, aliases, fields } = ingested;
    const { first, last } = activityOf(this.#events, received_at);
    // Without object spreads, because this runs for every record of events. The order of the fields is that on the log.
    const decision = { ou_id, lead_id } as records.LeadScored;
    if (this.before === null) decision.new_lead = true;
    decision.previous_score = this.before?.score ?? 0;
    decision.score = this.score;
    decision.configuration_version = this.rules.version;
    decision.event_count = this.#events.length;
    decision.fire_triggers = fire_triggers;
    decision.aliases = aliases;
    if (fields) decision.fields = fields;
    decision.first_activity_at = first;
    decision.last_activity_at = last;
    decision.decided_at = received_at;
    decision.scored_events = this.#scored;
    if (this.#limits || this.#held !== 0) this.#adjust(decision);
    if (source) decision.source = source;
    return decision;
  }

  #adjust(decision: records.LeadScored): void {
    const adjustments = this.#limits?.adjustments() ?? [];
    if (this.#held !== 0) adjustments.push(heldBack(this.#held));
    if (adjustments.length > 0) decision.adjustments = adjustments;
    const limit_uses = this.#limits?.uses() ?? [];
    if (limit_uses.length > 0) decision.limit_uses = limit_uses;
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
