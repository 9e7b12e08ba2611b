import { describe, expect, test } from '@jest/globals';
import { compileFilters, eventTypeKey, routeDeclarations, type JsonObject } from '@lead-scoring/contracts';
import {
  createWorkload,
  eventBytes,
  fixedPoints,
  probeBody,
  pageViewRules,
  probePoints,
  rulesOfOtherTypes,
  workloadRules,
  type RuleForm,
  type WorkloadPlan,
} from './workload.js';

interface Sent {
  alias: string;
  event_type: string;
  metadata: JsonObject;
}

const plan: WorkloadPlan = {
  name: 'test',
  seed: 1,
  leads: 100,
  events: 2_000,
  eventsPerRequest: 300,
  distribution: 'even',
  firstEventAt: Date.UTC(2026, 0, 1),
};

const eventsOf = (bodies: Buffer[]) => bodies.flatMap((body) => JSON.parse(body.toString()) as Sent[]);

/** The points by the system's own evaluation of the rules. */
const rulePoints = (event: Sent, rules: readonly { form: RuleForm }[] = workloadRules) =>
  rules
    .filter(({ form }) => eventTypeKey(form.event_type) === eventTypeKey(event.event_type))
    .filter(({ form }) => compileFilters(form.attribute_filters)(event.metadata))
    .reduce((points, { form }) => points + form.weight, 0);

describe('a workload', () => {
  test('is the same for the same plan, and differs for another seed', () => {
    const bodies = Buffer.concat(createWorkload(plan).bodies());
    expect(Buffer.concat(createWorkload(plan).bodies()).equals(bodies)).toBe(true);
    expect(Buffer.concat(createWorkload({ ...plan, seed: 2 }).bodies()).equals(bodies)).toBe(false);
  });

  test('sends all events, in requests of the size asked for, every event of 250 bytes', () => {
    const bodies = createWorkload(plan).bodies();
    expect(bodies.map((body) => eventsOf([body]).length)).toEqual([300, 300, 300, 300, 300, 300, 200]);
    expect(new Set(eventsOf(bodies).map((event) => JSON.stringify(event).length))).toEqual(
      new Set([eventBytes]),
    );
  });

  test('has only events that the API accepts', () => {
    for (const event of eventsOf(createWorkload(plan).bodies()))
      expect(() => routeDeclarations.ingestedEvent.parse(event)).not.toThrow();
  });

  test('gives every lead the same number of events when it is even, and at least one when it is skewed', () => {
    expect(new Set(createWorkload(plan).expected('rules').counts)).toEqual(new Set([20]));
    const { counts } = createWorkload({ ...plan, distribution: 'skewed' }).expected('rules');
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(plan.events);
    expect(Math.max(...counts)).toBeGreaterThan(100);
  });

  test.each(['rules', 'fixed-points'] as const)(
    'expects the scores that the events in its bodies give (%s)',
    (scoring) => {
      const workload = createWorkload(plan);
      const found = new Map<string, number>();
      for (const event of eventsOf(workload.bodies()).slice(0, 1_500))
        found.set(
          event.alias,
          (found.get(event.alias) ?? 0) +
            (scoring === 'rules' ? rulePoints(event) : (fixedPoints[event.event_type] ?? 0)),
        );
      const { scores } = workload.expected(scoring, 1_500);
      expect([...scores]).toEqual(
        Array.from({ length: plan.leads }, (_, lead) => found.get(workload.aliasOf(lead)) ?? 0),
      );
    },
  );

  test('of page views has no other event, and the scores that the rules for page views give', () => {
    const workload = createWorkload({ ...plan, eventType: 'Page View' });
    const found = new Map<string, number>();
    for (const event of eventsOf(workload.bodies())) {
      expect(event.event_type).toBe('Page View');
      found.set(event.alias, (found.get(event.alias) ?? 0) + rulePoints(event, pageViewRules));
    }
    expect([...workload.expected('page-view-rules').scores]).toEqual(
      Array.from({ length: plan.leads }, (_, lead) => found.get(workload.aliasOf(lead)) ?? 0),
    );
  });

  test('refuses a plan whose events cannot be distributed', () => {
    expect(() => createWorkload({ ...plan, events: 2_001 })).toThrow(RangeError);
    expect(() => createWorkload({ ...plan, distribution: 'skewed', events: 99 })).toThrow(RangeError);
  });
});

describe('the rules', () => {
  test('are 50, all with filters, all in a form that the API accepts', () => {
    expect(workloadRules).toHaveLength(50);
    for (const { form } of workloadRules) {
      expect(form.attribute_filters.length).toBeGreaterThan(0);
      expect(() => routeDeclarations.createEngagementRule.body.parse(form)).not.toThrow();
    }
  });

  test('match an event one to three times on average', () => {
    const events = eventsOf(createWorkload(plan).bodies());
    const matches = events.flatMap((event) =>
      workloadRules.filter(
        ({ form }) =>
          eventTypeKey(form.event_type) === eventTypeKey(event.event_type) &&
          compileFilters(form.attribute_filters)(event.metadata),
      ),
    ).length;
    expect(matches / events.length).toBeGreaterThan(1);
    expect(matches / events.length).toBeLessThan(3);
  });
});

test('rules for page views are 20, and those of other types match no event', () => {
  expect(pageViewRules).toHaveLength(20);
  const others = rulesOfOtherTypes(980);
  expect(others).toHaveLength(980);
  expect(new Set(others.map(({ label }) => label)).size).toBe(980);
  for (const form of others)
    expect(() => routeDeclarations.createEngagementRule.body.parse(form)).not.toThrow();
  const types = new Set(others.map(({ event_type }) => eventTypeKey(event_type)));
  for (const event of eventsOf(createWorkload(plan).bodies()))
    expect(types.has(eventTypeKey(event.event_type))).toBe(false);
});

test('the points of a probe are those of its event', () => {
  const [event] = eventsOf([probeBody('prob-0000001.test@bench.example', plan.firstEventAt)]);
  expect(event && rulePoints(event)).toBe(probePoints('rules'));
});
