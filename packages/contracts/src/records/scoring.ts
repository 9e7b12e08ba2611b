// Commands and events of the scoring service: the OU's rules, and the decisions that give leads their points.
import { z } from 'zod';
import { id, name, score, text, time, weight, wholeNumber } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { dealLimits } from '../vocabulary/deals.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { alias } from '../vocabulary/identity.js';
import { leadField, leadFieldNames } from '../vocabulary/lead-fields.js';
import { leadLevelChanged } from './lead-levels.js';
import { maximumProfileChanges, profileChange, profileLimits } from '../vocabulary/profile.js';
import { smallestScore } from '../vocabulary/score-range.js';
import { anyScoreTypes, leadScoreTypes } from '../vocabulary/score-types.js';
import { filterRecords } from './filters.js';
import { defineRecord, type PayloadOf } from './record.js';
import {
  countedPoints,
  limitUses,
  rulesetAdjustments,
  ruleLimitFields,
  rulesetLimitFields,
  rulesetLimitForm,
} from './rule-limits.js';

/** The scores that milestones watch. */
export const milestoneScoreType = z.enum(anyScoreTypes, {
  error: `must be ${leadScoreTypes.join(', ')} or account: milestones watch no other score`,
});

/** Surges count the points of events, which make the engagement score. */
export const surgeScoreType = z.literal('engagement', {
  error: 'must be engagement: a surge counts the points of events, and events give no other score',
});

/** The scores that rulesets make up. */
export const rulesetScoreTypes = ['engagement', 'profile', 'account', 'deal'] as const;
export const rulesetScoreType = z.enum(rulesetScoreTypes, {
  error: 'must be engagement, profile, account or deal',
});

/** A rule's fields in commands, events and answers. */
export const ruleFields = {
  event_type: name(100)
    .describe('Title Case or snake_case: both spellings of a type are one.')
    .meta({ example: 'Page View' }),
  weight: weight.describe('Points that each matching event gives; not 0.').meta({ example: 10 }),
  label: name(100).optional(),
  icon: name(50).optional(),
  attribute_filters: z
    .array(attributeFilter)
    .max(20, 'must be at most 20 filters')
    .optional()
    .describe('All must match.'),
  active: z.boolean().optional().describe('Default true.'),
  starts_at: time.optional().describe('Events before this time get nothing from the rule.'),
  ends_at: time.optional().describe('Events from this time on get nothing from the rule.'),
  ...ruleLimitFields,
};

export const createRuleset = defineRecord({
  type: 'CreateRuleset',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Create a ruleset.',
  schema: z.strictObject({
    ou_id: id,
    ruleset_id: id,
    name: name(100),
    score_type: rulesetScoreType,
    active: z.boolean(),
    ...rulesetLimitForm,
    ...requested,
  }),
});
export type CreateRuleset = PayloadOf<typeof createRuleset>;

export const updateRuleset = defineRecord({
  type: 'UpdateRuleset',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Rename a ruleset, switch it on or off, or change its limits.',
  schema: z.strictObject({
    ou_id: id,
    ruleset_id: id,
    name: name(100).optional(),
    active: z.boolean().optional(),
    ...rulesetLimitForm,
    ...requested,
  }),
});
export type UpdateRuleset = PayloadOf<typeof updateRuleset>;

export const createRule = defineRecord({
  type: 'CreateRule',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: "Create an engagement rule; without ruleset_id it goes into the OU's default ruleset.",
  schema: z.strictObject({
    ou_id: id,
    rule_id: id,
    ruleset_id: id.optional(),
    ...ruleFields,
    ...requested,
  }),
});
export type CreateRule = PayloadOf<typeof createRule>;

export const setRulesActive = defineRecord({
  type: 'SetRulesActive',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Switch many rules on or off: all of them or, when one is unknown, none.',
  schema: z.strictObject({
    ou_id: id,
    rule_ids: z.array(z.string().max(200)).max(500),
    active: z.boolean().optional(),
    ...requested,
  }),
});
export type SetRulesActive = PayloadOf<typeof setRulesActive>;

export const rulesetCreated = defineRecord({
  type: 'RulesetCreated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A ruleset exists.',
  schema: z.strictObject({
    ou_id: id,
    ruleset_id: id,
    name: name(100),
    score_type: z.enum(rulesetScoreTypes),
    active: z.boolean(),
    is_default: z.boolean(),
    ...rulesetLimitFields,
    version: z.int().min(1),
    ...happened,
  }),
});
export type RulesetCreated = PayloadOf<typeof rulesetCreated>;

export const rulesetUpdated = defineRecord({
  type: 'RulesetUpdated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A ruleset has another name or other limits, or is switched on or off.',
  schema: z.strictObject({
    ou_id: id,
    ruleset_id: id,
    name: name(100),
    active: z.boolean(),
    ...rulesetLimitFields,
    version: z.int().min(1),
    ...happened,
  }),
});
export type RulesetUpdated = PayloadOf<typeof rulesetUpdated>;

export const ruleCreated = defineRecord({
  type: 'RuleCreated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A rule exists; it counts for events that are processed from now on.',
  schema: z.strictObject({
    ou_id: id,
    rule_id: id,
    ruleset_id: id,
    ...ruleFields,
    attribute_filters: z.array(attributeFilter).max(20),
    active: z.boolean(),
    version: z.int().min(1),
    ...happened,
  }),
});
export type RuleCreated = PayloadOf<typeof ruleCreated>;

export const rulesActivationChanged = defineRecord({
  type: 'RulesActivationChanged',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'Rules were switched on or off together. Points given before stay.',
  schema: z.strictObject({
    ou_id: id,
    active: z.boolean(),
    rules: z
      .array(z.strictObject({ rule_id: id, version: z.int().min(1) }))
      .min(1)
      .max(500),
    ...happened,
  }),
});
export type RulesActivationChanged = PayloadOf<typeof rulesActivationChanged>;

/** A level's fields in commands, events and answers. */
export const levelFields = {
  name: name(100).describe('One level has it, whatever the case.'),
  min_score: score.nullable().describe('The lowest score that the level takes; null: open.'),
  max_score: score.nullable().describe('The highest score that the level takes; null: open.'),
  color: text(7)
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #e8590c')
    .meta({ description: 'A mark beside the name; no text is written in it.', examples: ['#e8590c'] }),
};

/** Of a level that is sent without one. */
export const defaultLevelColor = '#868e96';

export const maximumLevels = 20;

export const setEngagementLevels = defineRecord({
  type: 'SetEngagementLevels',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    "Replace the OU's engagement levels. A level without an id keeps that of the level of its name, or gets one.",
  schema: z.strictObject({
    ou_id: id,
    levels: z.array(z.strictObject({ id: id.optional(), ...levelFields })).max(maximumLevels),
    ...requested,
  }),
});
export type SetEngagementLevels = PayloadOf<typeof setEngagementLevels>;

export const engagementLevelsSet = defineRecord({
  type: 'EngagementLevelsSet',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'The OU has these engagement levels and no others. What a score is called follows from them; scores stay.',
  schema: z.strictObject({
    ou_id: id,
    levels: z.array(z.strictObject({ id, ...levelFields })).max(maximumLevels),
    ...happened,
  }),
});
export type EngagementLevelsSet = PayloadOf<typeof engagementLevelsSet>;

/** The points that one event gave: the rules that matched it, with the points of each. */
const scoredEvent = z.strictObject({
  event_id: id,
  event_type: z.string().max(100),
  timestamp: time,
  matches: z
    .array(
      z.strictObject({
        rule_id: id,
        rule_version: z.int().min(1),
        ruleset_id: id,
        points: score,
        counted_points: countedPoints,
      }),
    )
    .max(1_000),
  ruleset_adjustments: rulesetAdjustments,
});
export type ScoredEvent = z.infer<typeof scoredEvent>;

/** The reason for a score change that is no match of a rule. */
export const adjustmentReason = z
  .enum([
    'held_at_largest_score',
    'held_at_smallest_score',
    'capped_by_rule',
    'held_by_ruleset',
    'reset',
    'profile_rule',
    'deal_rule',
    'deal',
    'decay',
    'rescored',
    'events_deleted',
  ])
  .describe(
    'A score is held at the largest (2147483647) and at the smallest (-2147483648) that there is. capped_by_rule: max_count, once_per or cap_points of a rule held points back. held_by_ruleset: min_score or max_score of a ruleset did; of a profile or deal score, by how much the held points change. reset: somebody restarted it from zero. profile_rule: the profile began to meet a rule, or the rule gives no points any more; then counted is 0, and matched is 1 where the profile still meets the rule. deal_rule: the same of the deal that deal_id names. deal: that deal gives more or fewer points as a whole; what its rules and limits gave before is part of the whole, and so is every change until its score is 0. decay: a tick of a decay rule took points because no event had scored for so long; rule_id and rule_version name the rule, ruleset_id the ruleset whose points faded. rescored: a job has computed the score anew from the recorded history; `rescored` of the decision names it, and what the points are made of from then on. events_deleted: events that had given points were deleted; `deleted` of the decision says which.',
  );

/** Points without a match of a rule. Each reason has the optional fields that it needs. */
export const adjustment = z.strictObject({
  reason: adjustmentReason,
  points: wholeNumber(smallestScore, -smallestScore).describe(
    'Negative where points were held back from being added.',
  ),
  ruleset_id: id.optional().describe('The ruleset whose points these are.'),
  rule_id: id.optional(),
  rule_version: z.int().min(1).optional(),
  counted: z.int().min(0).optional().describe('Events of this decision that counted, in full or in part.'),
  matched: z.int().min(0).optional().describe('Events of this decision that the rule matched.'),
  deal_id: text(200, { minimum: 1 }).optional().describe("Of a deal score: the sender's id of the deal."),
  tick: z
    .int()
    .min(1)
    .optional()
    .describe("decay: which tick of the rule it is, counted from the lead's last scored event."),
  fraction: z
    .number()
    .min(-1)
    .max(1)
    .optional()
    .describe(
      'decay: the part of a point that is left beside the score, and fades with the next tick of the rule.',
    ),
});
export type ScoreAdjustment = z.infer<typeof adjustment>;

/** When the next tick of a decay rule takes points, if no event scores before. */
export const decayDueAt = time
  .nullable()
  .optional()
  .describe(
    "When the OU's decay rules take points next, if no event scores before; null: never. Absent where the OU has had no decay rules.",
  );

const decisionSource = z
  .strictObject({
    offset: z.int().min(0),
    sent_again: z
      .literal(true)
      .optional()
      .describe('It was a dead letter, and sent again: it is decided later than what came after it.'),
  })
  .optional()
  .describe('Where the record that this decides is on ingest.events, in the same partition number.');

export const leadScored = defineRecord({
  type: 'LeadScored',
  topic: 'scoring.events',
  key: 'lead_id',
  description:
    'The decision on the events of one EventsIngested: the score before and after, and for each event that matched, why. ' +
    'Also sent when no rule matched, so that the lead is known and its last activity current, and, without events, when metadata was set for the lead.',
  mayWait: true,
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    new_lead: z
      .boolean()
      .optional()
      .describe('True where the lead was not there before: it is the first decision on it.'),
    previous_score: score,
    score,
    configuration_version: z.int().min(0).describe("The version of the OU's rules that decided."),
    event_count: z.int().min(0).describe('0 where metadata was set for the lead: LeadMetadataPatched.'),
    fire_triggers: z.boolean(),
    aliases: z.array(alias).max(100),
    fields: z.array(leadField).max(50).optional(),
    overrides: z
      .array(leadField)
      .max(leadFieldNames.length)
      .optional()
      .describe(
        'Fields that callers have set, in place of what events say: these from now on, and no others. Absent where that is as before.',
      ),
    profile: z
      .array(profileChange)
      .min(1)
      .max(maximumProfileChanges)
      .optional()
      .describe(
        "Profile values that the OU's mappings read from the events, each newer than the value before.",
      ),
    profile_overrides: z
      .array(profileChange)
      .max(profileLimits.mappings)
      .optional()
      .describe(
        "Profile values that the OU's mappings read from metadata that callers have set, in place of those from events: these from now on, and no others. Absent where that is as before.",
      ),
    deals: z
      .array(id)
      .min(1)
      .max(dealLimits.dealsOfLead)
      .optional()
      .describe('Keys of the deals that events of the lead named for the first time.'),
    first_activity_at: time,
    last_activity_at: time,
    decided_at: time.describe('When ingest took the events; the moment from which the score counts.'),
    scored_events: z.array(scoredEvent).max(5_000),
    adjustments: z
      .array(adjustment)
      .min(1)
      .max(2_000)
      .optional()
      .describe(
        'Points that no match gave: previous_score, the points of all matches and these make score. One for each rule or ruleset that held points back.',
      ),
    limit_uses: limitUses,
    decay_due_at: decayDueAt,
    source: decisionSource,
  }),
});
export type LeadScored = PayloadOf<typeof leadScored>;

export const leadRemoved = defineRecord({
  type: 'LeadRemoved',
  topic: 'scoring.events',
  key: 'lead_id',
  description:
    'The lead was deleted or has joined another, and its score is gone. Decisions of the same id that follow are of a new lead, which starts from zero.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    previous_score: score.describe('The score that it had.'),
    deletion_id: id,
    removed_at: time,
    joined_to: id
      .optional()
      .describe('The lead that its events have joined: they are scored there. Absent for a deleted lead.'),
    source: decisionSource,
  }),
});
export type LeadRemoved = PayloadOf<typeof leadRemoved>;

export const scoringRecords = [
  createRuleset,
  updateRuleset,
  createRule,
  setRulesActive,
  setEngagementLevels,
  rulesetCreated,
  rulesetUpdated,
  ruleCreated,
  rulesActivationChanged,
  engagementLevelsSet,
  ...filterRecords,
  leadScored,
  leadLevelChanged,
  leadRemoved,
] as const;
