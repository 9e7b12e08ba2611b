// Deleted leads on a real database: any division into batches and any kill of the process give the same documents; no firing stays,
// however many there are; and every notified channel gets a command to forget.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  createExplanationReader,
  emptyAccount,
  explanationCollections,
  type LeadAccount,
} from '@lead-scoring/explanations';
import {
  connectReadModel,
  databaseName,
  ensureCollections,
  offsetToNumber,
  type ReadModel,
} from '@lead-scoring/read-model';
import { emptyConfiguration } from '@lead-scoring/scoring-domain';
import { createLogger } from '@lead-scoring/service';
import { foldedRecord } from '@lead-scoring/testing/fold-laws';
import { endpointsFromEnvironment } from '@lead-scoring/testing/service-rig';
import fc from 'fast-check';
import {
  compileTriggers,
  decideDeletion,
  decideIngested,
  decideScored,
  evolveLead,
  type FiringDraft,
  type FiringEvent,
  initialLeadState,
  type LeadState,
} from '@lead-scoring/scoring-domain/triggers';
import {
  act,
  configurationOf,
  eventsIngested,
  idOf,
  ingestedAt,
  leadDeleted,
  leadId,
  leadRemoved,
  leadScored,
  milestone,
  ouId,
  scoredAt,
  second,
  sequence,
} from '../testing/firing-builders.js';
import { commandsIn, expectForgetting, silenced, withOwnLog } from '../testing/forgetting-law.js';
import { explanationsName } from '../explanations/capability.js';
import { describeFiring } from './notification-model.js';
import { FiringPartition } from './partition.js';
import { simulateSequence } from './simulate.js';
import { firingCollections } from './documents.js';
import { isFired } from './subject-model.js';

const partition = 0;
const channels = [idOf('channel a'), idOf('channel b')];
const hot = milestone({ score_threshold: 10, channel_ids: channels.slice(0, 1) });
const visited = sequence(['A', 'B'], { channel_ids: channels.slice(1) });
const configuration = configurationOf([hot, visited]);
const triggers = compileTriggers(configuration, { levels: [] });

function told(draft: FiringDraft): FiringEvent {
  if (!isFired(draft)) return draft;
  const seen_in = { topic: 'scoring.events', offset: 0 } as const;
  return describeFiring(draft, { name: 'Ada', aliases: [], score: 0, top_drivers: [], levels: [], seen_in });
}

const open = (
  readModel: ReadModel,
  explained: readonly (LeadAccount | null)[] = [],
  // Fewer than there are leads, so that states are evicted.
  cachedLeads = 2,
) =>
  new FiringPartition(
    { readModel, partition },
    {
      triggers: { load: () => Promise.resolve(() => triggers) },
      explanations: {
        reach: () => Promise.resolve(),
        read: (requests) => Promise.resolve(requests.map((_, index) => explained[index] ?? null)),
        configurations: () => Promise.resolve(new Map([[ouId, emptyConfiguration(ouId)]])),
      },
      shareLinks: null,
      cachedLeads,
    },
  );

const names = ['ada', 'bob', 'cy'] as const;
const happening = fc.record({
  lead: fc.constantFrom(...names),
  what: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -12, max: 12 }) },
    { weight: 3, arbitrary: fc.constantFrom('A', 'B') },
    { weight: 3, arbitrary: fc.constantFrom('silenced', 'removed', 'deleted') },
  ),
});
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

/** What is recorded when this happens to leads, in this order. */
function logOf(happened: readonly Happening[]): FiringEvent[] {
  const states = new Map<string, LeadState>();
  const scores = new Map<string, number>();
  return happened.flatMap(({ lead, what }, index) => {
    const lead_id = idOf(lead);
    const before = states.get(lead) ?? initialLeadState(ouId, lead_id);
    const [scored, ingested] = [scoredAt(index), ingestedAt(index)];
    const ended = { ou_id: ouId, lead_id, deletion_id: idOf(`deletion ${String(index)}`), at: second(index) };
    const decide = () => {
      if (typeof what === 'number') {
        const score = scores.get(lead) ?? 0;
        scores.set(lead, score + what);
        const one = act(`e${String(index)}`, 'A', index, what);
        return decideScored(leadScored([one], score, index, { lead_id }), scored, before, triggers);
      }
      if (what === 'removed') {
        scores.delete(lead);
        return decideDeletion(ended, scored, before, true);
      }
      if (what === 'deleted') return decideDeletion(ended, ingested, before, true);
      if (what === 'silenced') {
        const event: FiringDraft = {
          type: 'TriggerSuppressed',
          payload: { lead_id, ...silenced(hot, scored, index) },
        };
        return { events: [event], state: evolveLead(before, event) };
      }
      const one = act(`e${String(index)}`, what, index);
      return decideIngested(eventsIngested([one], index, { lead_id }), ingested, before, triggers);
    };
    const { events, state } = decide();
    states.set(lead, state);
    return events.map(told);
  });
}

test('any division into batches, killed at any write, gives the documents of one record per batch', async () => {
  await expectForgetting({ happening, logOf, collections: firingCollections, open, numRuns: 25 });
}, 240_000);

describe('a deletion', () => {
  let readModel: ReadModel;

  beforeEach(async () => {
    readModel = await connectReadModel(
      {
        uri: endpointsFromEnvironment().mongodbUri,
        database: databaseName(`forgetting-${randomUUID().slice(0, 8)}`, 'notification'),
      },
      { logger: createLogger({ name: 'test', level: 'silent' }) },
    );
    await ensureCollections(readModel, [...firingCollections, ...explanationCollections]);
  });
  afterEach(async () => {
    await readModel.patiently((db) => db.dropDatabase());
    await readModel.close();
  });

  const removal = (offset: number) => foldedRecord(records.leadRemoved, leadRemoved('deletion'), offset);
  const deletion = (offset: number) => foldedRecord(records.leadDeleted, leadDeleted('deletion'), offset);
  const scoredOnce = (offset: number, points = 15) =>
    foldedRecord(
      records.leadScored,
      leadScored([act(`s${String(offset)}`, 'A', offset, points)], 0, offset),
      offset,
    );
  const completed = (offset: number) => {
    const steps = ['A', 'B'].map((type) => act(`${type}${String(offset)}`, type, offset));
    return foldedRecord(records.eventsIngested, eventsIngested(steps, offset), offset);
  };

  const opened = (explained: readonly (LeadAccount | null)[] = []) =>
    withOwnLog(open(readModel, explained), readModel);

  test('that says that the lead has joined another keeps its firings, and commands nobody to forget; a later one ends them', async () => {
    const { take, fired } = opened();
    await take(scoredOnce(0));
    expect(await fired()).toBe(1);
    const joined = leadRemoved('join', 15, { joined_to: idOf('person') });
    const { events, commands } = await take(foldedRecord(records.leadRemoved, joined, 1));
    expect(events).toMatchObject([{ type: 'LeadForgotten', payload: { joined_to: idOf('person') } }]);
    expect(commands).toEqual([]);
    expect(await fired()).toBe(1);
    expect(commandsIn((await take(removal(2))).commands)).toEqual([['ForgetLead', channels[0]]]);
    expect(await fired()).toBe(0);
  });

  test('of a lead with thousands of firings deletes all of them, and commands each notified channel once to forget', async () => {
    const { take, fold, fired } = opened();
    const many = Array.from({ length: 3_500 }, (_, index): FiringEvent => {
      const [draft] = decideScored(
        leadScored([act(`m${String(index)}`, 'A', index, 15)], 0, index),
        scoredAt(index),
        initialLeadState(ouId, leadId),
        compileTriggers(configurationOf([{ ...hot, channel_ids: [channels[index % 2] ?? ''] }]), {
          levels: [],
        }),
      ).events;
      if (!draft) throw new Error('it fires');
      return told(draft);
    });
    for (let from = 0; from < many.length; from += 1_000) await fold(many.slice(from, from + 1_000));
    expect(await fired()).toBe(many.length);
    const { events, commands } = await take(removal(4_000));
    expect(events.map(({ type }) => type)).toEqual(['LeadForgotten']);
    expect(commandsIn(commands).sort()).toEqual(channels.map((id) => ['ForgetLead', id]).sort());
    expect(commands[0]?.payload).toMatchObject({
      ou_id: ouId,
      lead_id: leadId,
      before: { topic: 'scoring.events', partition, offset: 4_000 },
    });
    expect(await fired()).toBe(0);
    // Neither the earlier records nor the same record change anything when they are repeated.
    expect((await take(scoredOnce(3_999), removal(4_000))).events).toEqual([]);
  }, 120_000);

  test('in one batch with a firing forgets the firing, and a new lead with the id fires again', async () => {
    const { take, fired } = opened();
    const { events, commands } = await take(scoredOnce(1), removal(2), scoredOnce(3));
    expect(events.map(({ type }) => type)).toEqual(['MilestoneFired', 'LeadForgotten', 'MilestoneFired']);
    expect(commandsIn(commands)).toEqual([
      ['RequestNotification', channels[0]],
      ['ForgetLead', channels[0]],
      ['RequestNotification', channels[0]],
    ]);
    expect(await fired()).toBe(1);
  });

  test('reported by one topic forgets what records of that topic caused', async () => {
    const { take, fired } = opened();
    await take(scoredOnce(1));
    await take(completed(1));
    // Ingest reports first: its next records belong to the new lead.
    expect(commandsIn((await take(deletion(2))).commands)).toEqual([['ForgetLead', channels[1]]]);
    await take(completed(3));
    expect(await fired()).toBe(2);
    expect(commandsIn((await take(removal(2))).commands)).toEqual([['ForgetLead', channels[0]]]);
    expect(await fired()).toBe(1);
    expect((await take(scoredOnce(3))).events.map(({ type }) => type)).toEqual(['MilestoneFired']);
  });

  test('that scoring has not reported yet keeps the old lead’s explanation out of the new lead’s notifications', async () => {
    const name = 'The lead that was deleted';
    const { take } = opened([
      {
        ...emptyAccount(
          {
            id: leadId,
            ou_id: ouId,
            given_name: { value: name, at: second(0) },
            given: {},
            first_alias: null,
          },
          0,
        ),
        score: 80,
        configuration_version: 1,
      },
    ]);
    const nameIn = ({ events }: { events: FoldedRecord[] }) =>
      events.flatMap(({ payload, type }) =>
        type === 'SequenceFired' ? [(payload as records.SequenceFired).lead.name] : [],
      );
    expect(nameIn(await take(completed(1)))).toEqual([name]);
    const anew = await take(deletion(2), completed(3));
    expect(nameIn(anew)).toEqual(['ada@example.com']);
    expect(anew.events.at(-1)?.payload).toMatchObject({ score: 0, top_drivers: [] });
    const fields = [{ field: 'name' as const, value: 'The lead that is new', at: second(3) }];
    const scored = leadScored([act('anew', 'A', 3, 5)], 0, 3, { fields });
    await take(removal(2), foldedRecord(records.leadScored, scored, 3));
    const [fired] = (await take(completed(4))).events.filter(({ type }) => type === 'SequenceFired');
    expect(fired?.payload).toMatchObject({ score: 5, lead: { name: 'The lead that is new' } });
  });

  test('removes the lead from simulations, which read the log', async () => {
    const both = (lead_id: string, at: number) =>
      eventsIngested([act(`a ${String(at)}`, 'A', at), act(`b ${String(at)}`, 'B', at)], at, { lead_id });
    async function* ingestedSince() {
      yield await Promise.resolve(both(leadId, 1));
      yield both(idOf('bob'), 2);
      yield leadDeleted('deletion');
      yield both(leadId, 3);
    }
    const simulated = await simulateSequence(
      { explanations: createExplanationReader(readModel, explanationsName), ingestedSince },
      visited,
      { from: second(0), to: second(10) },
      { timeMs: 10_000, events: 1_000 },
    );
    expect(simulated).toMatchObject({ total: 2, leads: 2 });
    expect(simulated.data.map(({ at, lead }) => [at, lead.id])).toEqual([
      [second(3), leadId],
      [second(2), idOf('bob')],
    ]);
  });

  test('of a lead without firings is recorded, and commands no channel', async () => {
    const { take } = opened();
    const { events, commands } = await take(removal(1));
    expect(events.map(({ type, offset }) => [type, offsetToNumber(offset)])).toEqual([['LeadForgotten', 0]]);
    expect(commands).toEqual([]);
  });
});
