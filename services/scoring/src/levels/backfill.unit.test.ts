// Laws of a backfill of levels, on random histories: after it a consumer that folds crossings and removals alone knows the level of every
// lead, whatever levels there were before and whatever is decided meanwhile; and a second one has nothing to tell.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { emptyConfiguration, levelHolding } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause } from '../scores/messages.js';
import { compileRules } from '../scores/rule-model.js';
import {
  addMapping,
  at,
  createRule,
  deleted,
  idOf,
  ingested,
  ouId,
  setLevels,
  type LevelBuilder,
} from '../testing/builders.js';
import { configuredFrom } from '../testing/configured.js';
import { joinedPlaced, LevelComparison, levelToTell, ToldLevels, type LevelNews } from './backfill-model.js';
import { withCrossings } from './crossings.js';

const ids = { Cold: idOf('Cold'), Warm: idOf('Warm'), Hot: idOf('Hot') };
const lists: LevelBuilder[][] = [
  [],
  [
    ['Cold', null, 19, { id: ids.Cold }],
    ['Warm', 20, 49, { id: ids.Warm }],
    ['Hot', 50, null, { id: ids.Hot }],
  ],
  [
    ['Warm', 10, 29, { id: ids.Warm }],
    ['Hot', 30, null, { id: ids.Hot }],
  ],
  [['Cold', null, 25, { id: ids.Cold }]],
];
const withRules = configuredFrom(
  emptyConfiguration(ouId),
  createRule('view'),
  createRule('bounce', { event_type: 'Bounce', weight: -40 }),
);

/** Leads and the log of their news, as scoring decides them. */
class World {
  configuration = withRules;
  readonly leads = new Map<string, Lead>();
  readonly log: LevelNews[] = [];
  #offset = 0;

  setLevels(levels: LevelBuilder[]): void {
    this.configuration = configuredFrom(this.configuration, setLevels(levels));
  }

  decide(cause: LeadCause): void {
    const rules = compileRules(this.configuration);
    const decided = decideLeads(
      [cause],
      (_, leadId) => this.leads.get(leadId) ?? null,
      () => rules,
    );
    for (const { type, payload } of withCrossings(decided, () => rules.levels)) {
      const offset = this.#offset;
      this.#offset += 1;
      if (type === 'LeadScored')
        this.leads.set(payload.lead_id, foldLead(this.leads.get(payload.lead_id) ?? null, payload, offset));
      if (type === 'LeadRemoved') {
        this.leads.delete(payload.lead_id);
        this.log.push({ type, payload, offset });
      }
      if (type === 'LeadLevelChanged') this.log.push({ type, payload, offset });
    }
  }

  /** What a job finds: some leads as they were when it looked at them, and all that was told until now. */
  compare(stored = new Map(this.leads)): LevelComparison {
    const told = new ToldLevels();
    told.take(this.log.slice(0, 3));
    told.take(this.log.slice(3));
    const comparison = new LevelComparison(this.configuration, told, at);
    for (const lead of stored.values()) comparison.take(lead);
    return comparison;
  }

  tell(commands: readonly records.TellLevel[]): number {
    let told = 0;
    for (const command of commands) {
      expect(records.tellLevel.schema.safeParse(command).error).toBeUndefined();
      const payload = levelToTell(command, this.leads.get(command.lead_id) ?? null, this.configuration);
      if (!payload) continue;
      expect(records.leadLevelChanged.schema.safeParse(payload).error).toBeUndefined();
      this.log.push({ type: 'LeadLevelChanged', payload, offset: this.#offset });
      this.#offset += 1;
      told += 1;
    }
    return told;
  }

  /** What a consumer that folds crossings and removals alone knows, of the leads that there are. */
  known(): Map<string, string | null> {
    const known = new Map<string, string | null>();
    for (const { type, payload } of this.log)
      if (type === 'LeadRemoved') known.delete(payload.lead_id);
      else known.set(payload.lead_id, payload.level_id);
    return new Map([...this.leads.keys()].map((leadId) => [leadId, known.get(leadId) ?? null]));
  }

  actual(): Map<string, string | null> {
    const { levels } = this.configuration;
    return new Map(
      [...this.leads.values()].map(({ id, score }) => [id, levelHolding(levels, score)?.id ?? null]),
    );
  }
}

const lead = fc.constantFrom('ada', 'bob', 'cy');
const happening = fc.oneof(
  { weight: 6, arbitrary: lead.map((name) => ({ name, what: 'view' as const })) },
  { weight: 2, arbitrary: lead.map((name) => ({ name, what: 'bounce' as const })) },
  { weight: 1, arbitrary: lead.map((name) => ({ name, what: 'deletion' as const })) },
  { weight: 2, arbitrary: fc.nat(lists.length - 1).map((levels) => ({ levels })) },
);
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

function play(world: World, happenings: readonly Happening[]): void {
  for (const one of happenings) {
    if ('levels' in one) world.setLevels(lists[one.levels] ?? []);
    else if (one.what === 'deletion') world.decide({ type: 'LeadDeleted', payload: deleted(one.name) });
    else
      world.decide({
        type: 'EventsIngested',
        payload: ingested(one.name, [one.what === 'view' ? {} : { event_type: 'Bounce' }]),
      });
  }
}
const history = fc.array(happening, { maxLength: 25 });
const withoutLevels = history.map((happenings) => happenings.filter((one) => !('levels' in one)));

describe('after a backfill of levels', () => {
  test('a consumer that folds crossings and removals alone knows the level of every lead, and goes on to know it', () => {
    fc.assert(
      fc.property(history, withoutLevels, (before, after) => {
        const world = new World();
        play(world, before);
        const { commands, found } = world.compare();
        const { entering, moving, leaving, unchanged } = found.engagement;
        expect(entering + moving + leaving).toBe(commands.length);
        expect(entering + moving + leaving + unchanged).toBe(world.leads.size);
        expect(world.tell(commands)).toBe(commands.length);
        expect(world.known()).toEqual(world.actual());
        play(world, after);
        expect(world.known()).toEqual(world.actual());
      }),
    );
  });

  test('whatever is decided after the job has looked at the leads, and between its commands', () => {
    fc.assert(
      fc.property(history, withoutLevels, withoutLevels, (before, meanwhile, later) => {
        const world = new World();
        play(world, before);
        const stored = new Map(world.leads);
        play(world, meanwhile);
        const { commands } = world.compare(stored);
        play(world, later);
        world.tell(commands);
        const [known, actual] = [world.known(), world.actual()];
        for (const leadId of stored.keys()) expect(known.get(leadId)).toBe(actual.get(leadId));
      }),
    );
  });

  test('a second one has nothing to tell, and the same commands again tell nothing', () => {
    fc.assert(
      fc.property(history, (before) => {
        const world = new World();
        play(world, before);
        const { commands } = world.compare();
        world.tell(commands);
        const { commands: second, found } = world.compare();
        expect(second).toEqual([]);
        expect(found.engagement.unchanged).toBe(world.leads.size);
        for (const { leads, told } of found.engagement.levels) expect(told).toBe(leads);
      }),
    );
  });

  test('the counts do not depend on the groups in which leads are compared', () => {
    fc.assert(
      fc.property(history, (before) => {
        const world = new World();
        play(world, before);
        const whole = world.compare().found;
        const groups = [...world.leads].map((entry) => world.compare(new Map([entry])).found);
        expect(groups.reduce(joinedPlaced, world.compare(new Map()).found)).toEqual(whole);
      }),
    );
  });
});

describe('levels that are set for the first time', () => {
  test('are told with the score as it is, without triggers, and only of what there is', () => {
    const world = new World();
    play(world, [
      { name: 'ada', what: 'view' },
      { name: 'ada', what: 'view' },
      { name: 'bob', what: 'view' },
      { name: 'bob', what: 'deletion' },
      { levels: 1 },
    ]);
    const { commands, found } = world.compare();
    const nobody = { entering: 0, moving: 0, leaving: 0, unchanged: 0, levels: [] };
    expect(found).toEqual({
      engagement: {
        ...nobody,
        entering: 1,
        levels: [
          { id: ids.Cold, name: 'Cold', leads: 0, told: 0 },
          { id: ids.Warm, name: 'Warm', leads: 1, told: 0 },
          { id: ids.Hot, name: 'Hot', leads: 0, told: 0 },
        ],
      },
      profile: nobody,
    });
    const [command] = commands;
    if (!command) throw new Error('there is one to be told of');
    const ada = world.leads.get(idOf('ada')) ?? null;
    expect(levelToTell(command, ada, world.configuration)).toMatchObject({
      ...{ previous_level_id: null, level_id: ids.Warm, level_name: 'Warm', cause: 'levels' },
      ...{ previous_score: 20, score: 20, fire_triggers: false },
    });
    expect(levelToTell(command, null, world.configuration)).toBeNull();
  });

  test('count for profile scores once there is profile scoring: a lead without a profile has the score 0', () => {
    const world = new World();
    play(world, [{ name: 'ada', what: 'view' }]);
    const profile_levels = [
      { id: ids.Cold, name: 'Cold', color: '#000000', min_score: null, max_score: null },
    ] as const;
    const found = () => world.compare().found.profile;
    world.configuration = { ...world.configuration, profile_levels };
    expect(found()).toMatchObject({ entering: 0, unchanged: 0 });
    world.configuration = configuredFrom(world.configuration, addMapping('title', 'title', 'metadata.title'));
    expect(found()).toMatchObject({ entering: 1, levels: [{ leads: 1, told: 0 }] });
    world.tell(world.compare().commands);
    expect(found()).toMatchObject({ entering: 0, unchanged: 1, levels: [{ leads: 1, told: 1 }] });
  });
});
