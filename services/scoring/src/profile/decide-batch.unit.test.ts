// Laws of profile scores over random histories: batches, replays, sums of entries, and a plain second computation.
import { describe, expect, test } from '@jest/globals';
import { records, routeDeclarations } from '@lead-scoring/contracts';
import {
  emptyConfiguration,
  evolveConfiguration,
  explainProfile,
  pointsByRuleset,
  profileOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { toLead, toLeadDocument } from '../leads/documents.js';
import { foldAdjusted } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { compileRules } from '../scores/rule-model.js';
import {
  addMapping,
  createProfileRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  ouId,
  patched,
  removeMapping,
  setProfileRulesActive,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { withProfiles } from './decide-batch.js';
import { emptyProfile } from './state.js';
import { testProfile } from './test-rules.js';

function configured(
  configuration: ScoringConfiguration,
  ...commands: ConfigurationCommand[]
): ScoringConfiguration {
  return commands.reduce((state, command) => {
    const decision = decideConfiguration(command, state);
    return decision.outcome === 'done' ? decision.events.reduce(evolveConfiguration, state) : state;
  }, configuration);
}

const start = configured(
  emptyConfiguration(ouId),
  createRuleset('Fit', { score_type: 'profile' }),
  createRuleset('Market', { score_type: 'profile' }),
  createRule('view', { weight: 3 }),
  addMapping('seniority', 'seniority', 'title', { first_of: ['vp', 'analyst'] }),
  addMapping('size', 'size', 'employees', 'number'),
  createProfileRule('vp', [{ field: 'seniority', operator: 'equals', value: 'vp' }]),
  createProfileRule('large', [{ field: 'size', operator: 'gte', value: 100 }], { weight: 7 }),
  createProfileRule('known', [{ field: 'company', operator: 'exists' }], { weight: -2 }),
);

/** Decides batches and keeps what they come to, like a partition. */
class Partition {
  readonly log: LeadEvent[] = [];
  leads = new Map<string, Lead>();

  /** Decides the causes in batches of the given sizes. */
  take(causes: readonly LeadCause[], sizes: readonly number[], configuration: ScoringConfiguration): void {
    const rules = compileRules(configuration);
    const rest = [...causes];
    for (const size of [...sizes, causes.length]) {
      const batch = rest.splice(0, size);
      const leadBefore = (_: string, leadId: string) => this.leads.get(leadId) ?? null;
      const decided = decideLeads(batch, leadBefore, () => rules);
      const sources = { profileOf: () => rules.profile, versionOf: () => rules.version, leadBefore };
      for (const event of withProfiles(decided, batch, sources) ?? []) {
        this.log.push(event);
        fold(this.leads, event, this.log.length);
      }
    }
  }
}

function fold(leads: Map<string, Lead>, { type, payload }: LeadEvent, offset: number): void {
  const lead = leads.get(payload.lead_id) ?? null;
  if (type === 'LeadRemoved') leads.delete(payload.lead_id);
  else if (type === 'LeadScored') leads.set(payload.lead_id, foldLead(lead, payload, offset));
  else if (lead) leads.set(payload.lead_id, foldAdjusted(lead, payload, offset));
}

const hour = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();

const event = fc.record(
  {
    title: fc.constantFrom('VP Sales', 'Analyst', 'Poet'),
    employees: fc.constantFrom('50', '1,000', 'many'),
    company: fc.constantFrom('Engines', 'Looms'),
  },
  { requiredKeys: [] },
);
const cause = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      lead: fc.constantFrom('ada', 'bob'),
      events: fc.array(fc.record({ hours: fc.nat(5), metadata: event }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      lead: fc.constantFrom('ada', 'bob'),
      set: fc.record(
        {
          title: fc.constantFrom('VP Sales', 'Poet'),
          employees: fc.constantFrom(10, 10_000),
          company: fc.constantFrom('Engines', 'Cards'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ lead: fc.constantFrom('ada', 'bob'), events: fc.constant(null) }) },
);
const change = fc.constantFrom<ConfigurationCommand>(
  setProfileRulesActive(['vp'], false),
  setProfileRulesActive(['vp'], true),
  setProfileRulesActive(['large', 'known'], false),
  setProfileRulesActive(['large', 'known'], true),
  removeMapping('size'),
  addMapping('size', 'size', 'employees', 'number'),
  updateRule('vp', { weight: 5 }),
  updateRule('vp', { conditions: [{ field: 'seniority', operator: 'exists' }], label: 'Known' }),
  updateRule('large', { ruleset_id: idOf('Market') }),
  updateRule('large', { ruleset_id: idOf('Fit') }),
  updateRuleset('Fit', { max_score: 10 }),
  updateRuleset('Fit', { max_score: null, min_score: -1 }),
);
const history = fc.array(
  fc.record({
    changes: fc.array(change, { maxLength: 2 }),
    causes: fc.array(cause, { maxLength: 6 }),
  }),
  { maxLength: 5 },
);
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** The history in a partition, each part of its causes in batches of the given sizes. */
function lived(parts: History, sizes: readonly number[]) {
  const partition = new Partition();
  let configuration = start;
  let offset = 0;
  for (const { changes, causes } of parts) {
    configuration = configured(configuration, ...changes);
    const taken = causes.map((one): LeadCause => {
      offset += 1;
      const source = { offset };
      const { lead } = one;
      if ('set' in one) {
        const payload = patched(lead, { ...one.set }, { patched_at: hour(100 + offset) });
        return { type: 'LeadMetadataPatched', payload, source };
      }
      const { events } = one;
      if (!events) return { type: 'LeadDeleted', payload: deleted(lead), source };
      const fields = events.flatMap(({ hours, metadata }) =>
        metadata.company === undefined
          ? []
          : [{ field: 'company' as const, value: metadata.company, at: hour(hours) }],
      );
      return {
        type: 'EventsIngested',
        payload: ingested(
          lead,
          events.map(({ hours, metadata }) => ({ timestamp: hour(hours), metadata: { ...metadata } })),
          { received_at: hour(100 + offset), ...(fields.length > 0 && { fields }) },
        ),
        source,
      };
    });
    partition.take(taken, sizes, configuration);
  }
  return { log: partition.log, leads: partition.leads, configuration };
}

describe('profile scores', () => {
  test('are the same in any division into batches, and in a replay', () => {
    fc.assert(
      fc.property(history, fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }), (parts, sizes) => {
        const one = lived(parts, []);
        const other = lived(parts, sizes);
        expect(other.log).toEqual(one.log);
        const replayed = new Map<string, Lead>();
        for (const [index, recorded] of one.log.entries())
          fold(replayed, JSON.parse(JSON.stringify(recorded)) as LeadEvent, index + 1);
        expect(JSON.parse(JSON.stringify([...replayed]))).toEqual(JSON.parse(JSON.stringify([...one.leads])));
      }),
    );
  });

  test('are the sum of their recorded entries and leave the engagement score alone', () => {
    fc.assert(
      fc.property(history, (parts) => {
        const { log, leads, configuration } = lived(parts, []);
        for (const { type, payload } of log)
          expect(
            {
              LeadScored: records.leadScored,
              ScoreAdjusted: records.scoreAdjusted,
              LeadRemoved: records.leadRemoved,
            }[type].schema.safeParse(payload).error,
          ).toBeUndefined();
        for (const lead of leads.values()) {
          const from = log.findLastIndex(
            ({ type, payload }) => type === 'LeadRemoved' && payload.lead_id === lead.id,
          );
          const own = log.slice(from + 1).filter(({ payload }) => payload.lead_id === lead.id);
          const decisions = own.flatMap(({ type, payload }) => (type === 'ScoreAdjusted' ? [payload] : []));
          let score = 0;
          for (const decision of decisions) {
            expect(decision.previous_score).toBe(score);
            score += decision.adjustments.reduce((sum, { points }) => sum + points, 0);
            expect(decision.score).toBe(score);
          }
          expect(lead.profile?.score ?? 0).toBe(score);
          const explained = explainProfile(
            { id: lead.id, name: 'Ada', score },
            decisions,
            configuration,
            configuration,
            { at: hour(1_000), range_hours: 100_000 },
          );
          expect(explained.unattributed).toBe(0);
          expect(routeDeclarations.scoreExplanation.safeParse(explained).error).toBeUndefined();
          const held = (explained.adjustments ?? []).reduce((sum, { points }) => sum + points, 0);
          expect(explained.top_drivers.reduce((sum, { total }) => sum + total, 0) + held).toBe(score);
          expect(explained.profile_entries).toHaveLength(
            decisions.flatMap(({ adjustments }) => adjustments).filter(({ rule_id }) => rule_id).length,
          );
          const standing = lead.profile ?? emptyProfile;
          expect(
            pointsByRuleset(standing.given, standing.held).reduce((sum, { points }) => sum + points, 0),
          ).toBe(score);
          expect(lead.score).toBe(3 * lead.event_count);
        }
      }),
    );
  });

  test('are, after an event of the lead, the weights of the rules that match its profile then', () => {
    fc.assert(
      fc.property(history, (parts) => {
        const last = parts.map(({ causes }) => causes.length > 0).lastIndexOf(true);
        const { leads, configuration } = lived(parts.slice(0, last + 1), []);
        const named = new Set(parts[last]?.causes.map(({ lead }) => idOf(lead)));
        for (const lead of leads.values()) {
          if (!named.has(lead.id)) continue;
          const profile = profileOf({
            ...lead,
            values: lead.profile?.values ?? [],
            overrides: lead.profile?.overrides,
          });
          expect((lead.profile ?? emptyProfile).score).toBe(testProfile(profile, configuration, []).points);
        }
      }),
    );
  });

  test('are those of events again once everything that was set is taken back, whenever the events came', () => {
    fc.assert(
      fc.property(history, (parts) => {
        const leads = ['ada', 'bob'] as const;
        const end: History[number] = { changes: [], causes: leads.map((lead) => ({ lead, set: {} })) };
        const isSet = (one: History[number]['causes'][number]) => 'set' in one;
        const without = parts.map(({ changes, causes }) => ({
          changes,
          causes: causes.filter((one) => !isSet(one)),
        }));
        const [one, other] = [lived([...parts, end], []), lived([...without, end], [])];
        for (const lead of leads) {
          const [after, never] = [one.leads.get(idOf(lead)), other.leads.get(idOf(lead))];
          expect(after?.fields).toEqual(never?.fields);
          expect(after?.overridden).toBeUndefined();
          expect(after?.profile?.values).toEqual(never?.profile?.values);
          expect(after?.profile?.overrides).toBeUndefined();
          expect(after?.profile?.score).toEqual(never?.profile?.score);
          const times = ['event_count', 'first_activity_at', 'last_activity_at', 'score'] as const;
          for (const name of times) expect(after?.[name]).toEqual(never?.[name]);
        }
      }),
    );
  });

  test('what is set wins over events of before and of later, until it is set otherwise', () => {
    const history: History = [
      {
        changes: [],
        causes: [
          { lead: 'ada', events: [{ hours: 5, metadata: { title: 'Analyst', company: 'Engines' } }] },
          { lead: 'ada', set: { title: 'VP Sales', company: 'Cards' } },
          { lead: 'ada', events: [{ hours: 4, metadata: { title: 'Poet', company: 'Looms' } }] },
        ],
      },
    ];
    const ada = lived(history, []).leads.get(idOf('ada'));
    expect(ada?.fields.company?.value).toBe('Cards');
    expect(ada?.overridden?.given.company?.value).toBe('Engines');
    expect(ada?.profile).toMatchObject({
      values: [{ field: 'seniority', value: 'analyst' }],
      overrides: [{ field: 'seniority', value: 'vp' }],
      score: 18,
    });
    expect(toLead(toLeadDocument(ada as Lead, 0), ouId)).toEqual(ada);
    expect(toLeadDocument(ada as Lead, 0).lowered).toMatchObject({ company: 'cards' });
  });

  test('metadata that is set for a lead which is not there says nothing', () => {
    const { log } = lived([{ changes: [], causes: [{ lead: 'ada', set: { title: 'VP Sales' } }] }], []);
    expect(log).toEqual([]);
  });

  test('cost an OU that never configured them nothing: its events are handed on as they are', () => {
    const causes: LeadCause[] = [
      { type: 'EventsIngested', payload: ingested('ada', [{}]), source: { offset: 1 } },
    ];
    const rules = compileRules(configured(emptyConfiguration(ouId), createRule('view')));
    expect(rules.profile).toBeNull();
    const decided = decideLeads(
      causes,
      () => null,
      () => rules,
    );
    const sources = { profileOf: () => rules.profile, versionOf: () => 1, leadBefore: () => null };
    expect(withProfiles(decided, causes, sources)).toEqual(decided);
  });
});

test('a batch that changes very many points is refused; one record alone never is', () => {
  const rules = compileRules(start);
  const sources = { profileOf: () => rules.profile, versionOf: () => 1, leadBefore: () => null };
  const view = (lead: string, offset: number): LeadCause => ({
    type: 'EventsIngested',
    payload: ingested(lead, [{ metadata: { title: 'VP', employees: 500 } }]),
    source: { offset },
  });
  const causes = [view('ada', 1), view('bob', 2)];
  const decided = decideLeads(
    causes,
    () => null,
    () => rules,
  );
  expect(withProfiles(decided, causes, sources, 3)).toBeNull();
  expect(withProfiles(decided.slice(0, 1), causes.slice(0, 1), sources, 1)).toHaveLength(2);
});

test('very many changes of points are divided among consecutive records', () => {
  const many = Array.from({ length: 999 }, (_, index) => String(index));
  const rules = compileRules(
    configured(
      emptyConfiguration(ouId),
      createRuleset('Fit', { score_type: 'profile' }),
      createProfileRule('all', [{ field: 'email_domain', operator: 'exists' }], { weight: 1 }),
    ),
  );
  const [one] = rules.profile?.rules ?? [];
  if (!rules.profile || !one) throw new Error('there is a rule');
  const profile = {
    ...rules.profile,
    rules: many.map((name) => ({ ...one, rule: { ...one.rule, id: idOf(name) } })),
  };
  const given = many.map((name) => ({
    rule_id: idOf(`gone ${name}`),
    rule_version: 1,
    ruleset_id: idOf('Fit'),
    points: 2,
  }));
  const causes: LeadCause[] = [
    { type: 'EventsIngested', payload: ingested('ada', [{}]), source: { offset: 1 } },
  ];
  const decided = decideLeads(
    causes,
    () => ({ score: 0 }),
    () => rules,
  );
  const events = withProfiles(decided, causes, {
    profileOf: () => profile,
    versionOf: () => 1,
    leadBefore: () => ({ fields: {}, aliases: [], profile: { values: [], given, score: 1_998 } }),
  });
  expect(events?.slice(1).map(({ payload }) => payload)).toMatchObject([
    { previous_score: 1_998, score: 1 },
    { previous_score: 1, score: 999 },
  ]);
});
