// Tests rules on sample events with the decider that scores events, so that a test says what scoring would do. Pure.
import { eventTypeKey, nameBasedId, routeDeclarations, type records } from '@lead-scoring/contracts';
import { levelOf, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { Rule } from '../configuration/state.js';
import { decideLeads } from '../scores/decide.js';
import type { LimitedLead } from '../scores/limits-model.js';
import { compileRules } from '../scores/rule-model.js';
import { draftIdOf, withDrafts, type DraftRule } from './drafts.js';
import { reasonOf, type SampledEvent } from './reasons.js';

type EngagementTest = routeDeclarations.EngagementTest;
type TestedEvent = EngagementTest['events'][number];
type TestedRule = TestedEvent['rules'][number];

export interface RuleTest {
  /** The lead that the events come to: its id and score, and what limits have counted. The score is null for a new lead. */
  lead: { id: string; score: number | null } & Partial<LimitedLead>;
  /** In the order in which they come. */
  events: readonly SampledEvent[];
  drafts: readonly DraftRule[];
  /** The moment of the test. */
  now: string;
}

/** Drafts must be without problems (`draftProblems`). */
export function testRules(configuration: ScoringConfiguration, test: RuleTest): EngagementTest {
  const { lead, events, drafts, now } = test;
  const drafted = withDrafts(configuration, drafts, now);
  const decisions = decide(drafted, test);
  const draftIndexes = new Map(drafts.map((_, index) => [draftIdOf(drafted.ou_id, index), index]));
  const share = Math.floor(routeDeclarations.ruleTestLimits.rules / events.length);
  const tested = events.map((event, index): TestedEvent => {
    const decision = decisions[index];
    if (!decision) throw new Error('an event of a test was not decided');
    const matches = new Map(
      decision.scored_events.flatMap((one) => one.matches).map((match) => [match.rule_id, match]),
    );
    const listed = inOrderOfInterest(drafted, event.event_type, matches).slice(0, share);
    return {
      event_type: event.event_type,
      timestamp: event.timestamp,
      points: decision.score - decision.previous_score,
      score: decision.score,
      ...(decision.adjustments && { adjustments: decision.adjustments }),
      rules: listed.map((rule) => testedRule(drafted, rule, event, matches.get(rule.id), draftIndexes)),
      rules_matched: matches.size,
      rules_total: drafted.rules.size,
    };
  });
  const before = lead.score ?? 0;
  const score = decisions.at(-1)?.score ?? before;
  return {
    previous_score: before,
    points: score - before,
    score,
    level: levelOf(drafted.levels, score),
    events: tested,
  };
}

/** One decision on each event. */
function decide(configuration: ScoringConfiguration, { lead, events, now }: RuleTest): records.LeadScored[] {
  const { ou_id } = configuration;
  const rules = compileRules(configuration);
  const decided = decideLeads(
    events.map((event, index) => ({
      type: 'EventsIngested',
      payload: {
        ou_id,
        lead_id: lead.id,
        batch_id: lead.id,
        source: 'ingest',
        fire_triggers: false,
        received_at: now,
        aliases: [],
        events: [{ id: nameBasedId(lead.id, `sample:${String(index)}`), ...withoutAbsent(event) }],
      },
    })),
    () => (lead.score === null ? null : { ...lead, score: lead.score }),
    () => rules,
  );
  return decided.flatMap(({ type, payload }) => (type === 'LeadScored' ? [payload] : []));
}

function withoutAbsent({ event_type, timestamp, metadata }: SampledEvent) {
  return { event_type, timestamp, ...(metadata && { metadata }) };
}

/** Rules that match, then the others of the event's type, then those of other types. */
function inOrderOfInterest(
  { rules }: ScoringConfiguration,
  eventType: string,
  matches: ReadonlyMap<string, unknown>,
): Rule[] {
  const key = eventTypeKey(eventType);
  const ranks: [Rule[], Rule[], Rule[]] = [[], [], []];
  for (const rule of rules.values())
    ranks[matches.has(rule.id) ? 0 : eventTypeKey(rule.event_type) === key ? 1 : 2].push(rule);
  return ranks.flat();
}

function testedRule(
  { rulesets }: ScoringConfiguration,
  rule: Rule,
  event: SampledEvent,
  match: records.ScoredEvent['matches'][number] | undefined,
  draftIndexes: ReadonlyMap<string, number>,
): TestedRule {
  const { id, ruleset_id, label, weight } = rule;
  const draft = draftIndexes.get(id);
  return {
    rule_id: draft === undefined ? id : null,
    ...(draft !== undefined && { draft }),
    ruleset_id,
    ...(label !== undefined && { label }),
    weight,
    ...reasonOf(rule, rulesets.get(ruleset_id), event),
    points: match?.points ?? 0,
    ...(match?.counted_points !== undefined && { counted_points: match.counted_points }),
  };
}
