// Decisions of scoring for tests: fixed, with defaults for everything that a test does not name.
import { accountIdOf, nameBasedId, type records } from '@lead-scoring/contracts';

export const ouId = '11111111-1111-4111-8111-111111111111';
export const otherOuId = '22222222-2222-4222-8222-222222222222';
export const at = '2026-01-01T12:00:00.000Z';

/** A stable id for a short name. */
export const idOf = (name: string): string => nameBasedId(ouId, `test:${name}`);

export const rulesetCreated = (more: Partial<records.RulesetCreated> = {}): records.RulesetCreated => ({
  ou_id: ouId,
  ruleset_id: idOf('ruleset'),
  name: 'Intent',
  score_type: 'engagement',
  active: true,
  is_default: false,
  version: 1,
  at,
  ...more,
});

export const ruleCreated = (
  name: string,
  weight: number,
  more: Partial<records.RuleCreated> = {},
): records.RuleCreated => ({
  ou_id: ouId,
  rule_id: idOf(name),
  ruleset_id: idOf('ruleset'),
  event_type: 'Page View',
  weight,
  label: `label of ${name}`,
  attribute_filters: [{ field: 'path', operator: 'contains', value: `/${name}` }],
  active: true,
  version: 1,
  at,
  ...more,
});

export const levelsSet = (
  levels: [name: string, min_score: number | null, max_score: number | null][],
): records.EngagementLevelsSet => ({
  ou_id: ouId,
  levels: levels.map(([name, min_score, max_score]) => ({
    id: idOf(name),
    name,
    min_score,
    max_score,
    color: '#e8590c',
  })),
  at,
});

/** A decision that changed the lead's score: the named rule matched that many events. */
export function leadScored(
  lead: string,
  {
    rule,
    points,
    times = 1,
    previous = 0,
  }: { rule: string; points: number; times?: number; previous?: number },
  more: Partial<records.LeadScored> = {},
): records.LeadScored {
  const decided_at = more.decided_at ?? at;
  return {
    ou_id: ouId,
    lead_id: idOf(lead),
    previous_score: previous,
    score: previous + points * times,
    configuration_version: 1,
    event_count: times,
    fire_triggers: true,
    aliases: [{ alias_kind: 'email', alias: `${lead}@example.com` }],
    first_activity_at: decided_at,
    last_activity_at: decided_at,
    decided_at,
    scored_events: Array.from({ length: times }, (_, index) => ({
      event_id: idOf(`${lead} ${rule} ${decided_at} ${String(index)}`),
      event_type: 'Page View',
      timestamp: decided_at,
      matches: [{ rule_id: idOf(rule), rule_version: 1, ruleset_id: idOf('ruleset'), points }],
    })),
    ...more,
  };
}

export const leadRemoved = (
  lead: string,
  previous_score: number,
  more: Partial<records.LeadRemoved> = {},
): records.LeadRemoved => ({
  ou_id: ouId,
  lead_id: idOf(lead),
  previous_score,
  deletion_id: idOf(`deletion of ${lead}`),
  removed_at: at,
  ...more,
});

/** A decision that restarted the lead's score from zero. */
export const scoreReset = (
  lead: string,
  previous: number,
  more: Partial<records.ScoreAdjusted> = {},
): records.ScoreAdjusted => ({
  ou_id: ouId,
  lead_id: idOf(lead),
  score_type: 'engagement',
  previous_score: previous,
  score: 0,
  configuration_version: 1,
  adjustments: [{ reason: 'reset', points: 0 - previous }],
  decided_at: at,
  fire_triggers: false,
  reset_id: idOf(`reset of ${lead}`),
  ...more,
});

/** A decision of a rescoring: what rules gave by their names, and what no match gave, make the new score. */
export function scoreRescored(
  lead: string,
  previous: number,
  {
    matches,
    others = [],
  }: {
    matches: ({ rule: string } & Pick<records.RescoredMatches, 'points' | 'count' | 'counted'>)[];
    others?: records.RescoredEngagement['others'];
  },
  more: Partial<records.ScoreAdjusted> = {},
): records.ScoreAdjusted {
  const gave = matches.map(({ points, count, counted }) => counted?.points ?? points * count);
  const score = [...gave, ...others.map(({ points }) => points)].reduce((sum, points) => sum + points, 0);
  return {
    ou_id: ouId,
    lead_id: idOf(lead),
    score_type: 'engagement',
    previous_score: previous,
    score,
    configuration_version: 1,
    adjustments: [{ reason: 'rescored', points: score - previous }],
    decided_at: at,
    fire_triggers: false,
    rescored: {
      job_id: idOf('rescoring'),
      engagement: {
        rulesets: score === 0 ? [] : [{ ruleset_id: idOf('ruleset'), score }],
        matches: matches.map(({ rule, ...match }) => ({
          rule_id: idOf(rule),
          rule_version: 1,
          ruleset_id: idOf('ruleset'),
          event_type: 'Page View',
          ...match,
        })),
        others,
      },
    },
    ...more,
  };
}

/** A decision that the profile rule of this name gives the lead so many points more. */
export const profileScored = (
  lead: string,
  rule: string,
  { previous = 0, points, decided_at = at }: { previous?: number; points: number; decided_at?: string },
): records.ScoreAdjusted => ({
  ou_id: ouId,
  lead_id: idOf(lead),
  score_type: 'profile',
  previous_score: previous,
  score: previous + points,
  configuration_version: 1,
  adjustments: [
    {
      reason: 'profile_rule',
      points,
      rule_id: idOf(rule),
      rule_version: 1,
      ruleset_id: idOf('profile ruleset'),
    },
  ],
  decided_at,
  fire_triggers: true,
});

/** A rule over accounts that asks for the field of its name. */
export const accountRuleCreated = (
  name: string,
  weight: number,
  more: Partial<records.AccountRuleCreated> = {},
): records.AccountRuleCreated => ({
  ou_id: ouId,
  rule_id: idOf(name),
  ruleset_id: idOf('account ruleset'),
  conditions: [{ field: name, operator: 'equals', value: 'yes' }],
  weight,
  active: true,
  version: 1,
  at,
  ...more,
});

/** The identity of the account of this domain. */
export const accountOf = (domain: string) => {
  const identity = { account_kind: 'domain', account_key: domain } as const;
  return { account_id: accountIdOf(ouId, identity), ...identity };
};

/** A decision on the account of this domain; its score follows from the adjustments. */
export function accountScored(
  domain: string,
  {
    previous = 0,
    ...more
  }: Pick<records.AccountScored, 'leads' | 'adjustments'> & {
    previous?: number;
  } & Partial<records.AccountScored>,
): records.AccountScored {
  return {
    ou_id: ouId,
    ...accountOf(domain),
    previous_score: previous,
    score: more.adjustments.reduce((sum, { points }) => sum + points, previous),
    configuration_version: 1,
    contributions: [],
    roll_up: { method: 'sum' },
    decided_at: at,
    fire_triggers: true,
    ...more,
  };
}

/** The lead counts in the account of this domain from now on. */
export const leadContributed = (
  lead: string,
  domain: string,
  score: number,
  more: Partial<records.LeadContributed> = {},
): records.LeadContributed => ({
  ou_id: ouId,
  lead_id: idOf(lead),
  ...accountOf(domain),
  score,
  configuration_version: 1,
  decided_at: at,
  ...more,
});
