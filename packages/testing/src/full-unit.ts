// An organizational unit with as much configured as it may have: 1,000 active rules, almost all with 20 conditions and a limit of their
// own, 200 active rulesets, 200 filters of 1 MB, 20 decay rules and 50 mappings. One inactive rule of each kind, and one inactive
// ruleset, would be too many if they were switched on.
import type { RouteName } from '@lead-scoring/contracts';
import { pathOf, routeNamed, type RouteExample } from './route-examples.js';
import type { Answer, TestSystem } from './test-system.js';

/** Ids of what tests name. */
export interface FullUnit {
  ouId: string;
  idleRulesetId: string;
  idleRuleId: string;
  idleProfileRuleId: string;
  idleAccountRuleId: string;
  accountRulesetId: string;
  /** A filter that must not become much longer. */
  filterId: string;
}

/** Every rule matches an event of this type with this metadata. */
export const matchedEvent = {
  event_type: 'Page View',
  metadata: Object.fromEntries(Array.from({ length: 20 }, (_, field) => [`f${String(field)}`, 'a word'])),
};

const most = { rules: 1_000, rulesets: 200, filters: 200, decays: 20, mappings: 50, filterLength: 19_900 };
/** One active rule is over profiles, one over accounts and one over deals. */
const engagementRules = most.rules - 3;

const limits = [
  { max_count: 2 },
  { once_per: 'lead' },
  { once_per: 'value:path' },
  { cap_points: 3, cap_days: 30 },
] as const;

/** The score of a lead after so many matched events on one day, each with the path of its index modulo `paths`. */
export function limitedScore(events: number, paths: number): number {
  const points = [Math.min(events, 2), Math.min(events, 1), Math.min(events, paths), Math.min(events, 3)];
  return Array.from({ length: engagementRules }, (_, rule) => points[rule % 4] ?? 0).reduce(
    (sum, one) => sum + one,
    0,
  );
}

const conditions = Array.from({ length: 20 }, (_, field) =>
  field % 4 === 0
    ? { field: `f${String(field)}`, operator: 'contains', value: 'WORD' }
    : { field: `f${String(field)}`, operator: 'exists' },
);

const engagementRule = (nth: number, active = true) => ({
  label: `Rule ${String(nth)}`,
  event_type: matchedEvent.event_type,
  weight: 1,
  attribute_filters: conditions,
  active,
  ...limits[nth % 4],
});

const conditionRulesets = (name: string, field: string) => [
  {
    name,
    rules: [true, false].map((active) => ({
      label: `${name} ${String(active)}`,
      conditions: [{ field, operator: 'exists' }],
      weight: 1,
      active,
    })),
  },
];

/** A filter whose conditions have this length as JSON: it names very many companies. */
function filterOf(name: string, length: number) {
  const parts = Math.ceil(length / 110);
  const withTexts = (textOf: (part: number) => string) => {
    const texts = Array.from({ length: parts }, (_, part) => textOf(part));
    const values = [texts.slice(0, 95), texts.slice(95)].filter((value) => value.length > 0);
    return {
      name,
      conditions: { any: values.map((value) => ({ field: 'company', operator: 'in', value })) },
    };
  };
  const characters = length - JSON.stringify(withTexts(() => '').conditions).length;
  return withTexts((part) =>
    'x'.repeat(Math.floor(characters / parts) + (part < characters % parts ? 1 : 0)),
  );
}

const sections: Record<string, unknown>[] = [
  {
    engagement_rulesets: [
      { name: 'All', rules: Array.from({ length: engagementRules }, (_, nth) => engagementRule(nth)) },
      { name: 'Idle', active: false, rules: [engagementRule(engagementRules, false)] },
      ...Array.from({ length: most.rulesets - 4 }, (_, nth) => ({ name: `Empty ${String(nth)}` })),
    ],
    decays: Array.from({ length: most.decays }, (_, nth) => ({
      name: `Decay ${String(nth)}`,
      mode: 'inactivity_points',
      points: -1,
      interval_days: 365,
    })),
    profile_mappings: Array.from({ length: most.mappings }, (_, nth) => ({
      field: `field_${String(nth)}`,
      source: `metadata.source_${String(nth)}`,
    })),
  },
  {
    profile_rulesets: conditionRulesets('Fit', 'field_1'),
    account_rulesets: conditionRulesets('Companies', 'name'),
    deal_rulesets: conditionRulesets('Deals', 'stage'),
  },
  {
    filters: Array.from({ length: most.filters - 1 }, (_, nth) => filterOf(`Filter ${String(nth)}`, 4_870)),
  },
];

/** Conditions that make the filters of the unit too long, in place of those of another filter. */
export const longConditions = filterOf('', most.filterLength).conditions;

/** Configures the OU. It must be new. */
export async function fillUnit(system: TestSystem, ouId: string): Promise<FullUnit> {
  const ask = async <Body>(name: RouteName, example: RouteExample): Promise<Body> => {
    const answer = await sendIn(system, ouId, name, example);
    if (answer.status >= 300)
      throw new Error(`${name}: ${String(answer.status)} ${JSON.stringify(answer.body).slice(0, 1_000)}`);
    return answer.body as Body;
  };
  for (const body of sections) await ask('putConfiguration', { body });
  await ask('createFilter', { body: filterOf('Long', most.filterLength) });
  const idOf = async (name: RouteName, isNamed: (item: Listed) => boolean, pages = 1): Promise<string> => {
    for (let page = 1; page <= pages; page += 1) {
      const { data } = await ask<{ data: Listed[] }>(name, {
        query: { limit: '100', page: String(page) },
      });
      const found = data.find(isNamed);
      if (found) return found.id;
    }
    throw new Error(`${name} lists no such thing`);
  };
  const idle = ({ active }: Listed) => active === false;
  return {
    ouId,
    idleRulesetId: await idOf('listRulesets', idle, 3),
    idleRuleId: await idOf('listRules', idle, 10),
    idleProfileRuleId: await idOf('listProfileRules', idle),
    idleAccountRuleId: await idOf('listAccountRules', idle),
    accountRulesetId: await idOf('listAccountRulesets', () => true),
    filterId: await idOf('listFilters', ({ name }) => name === 'Filter 7', 2),
  };
}

interface Listed {
  id: string;
  name?: string;
  active?: boolean;
}

/** Sends the example as the administrator of all OUs. */
export function sendIn(
  system: TestSystem,
  ouId: string,
  name: RouteName,
  example: RouteExample,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return system.request(pathOf(name, example), {
    method: routeNamed(name).method,
    ...(example.body !== undefined && { body: example.body }),
    headers: { 'x-ou-id': ouId, ...headers },
  });
}
