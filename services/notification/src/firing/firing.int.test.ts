// Firing on a real database: any division of the log into batches and any repeated fold give the same result; a notification
// describes its lead as of the record that made the trigger fire; firings and simulations can be queried.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openFollowerPartition } from '@lead-scoring/capability';
import { maximumNotificationBytes, notificationPayload, records } from '@lead-scoring/contracts';
import { isRetriable, type FoldedRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import {
  createExplanationReader,
  explanationCollections,
  type ExplanationReader,
} from '@lead-scoring/explanations';
import { emptyConfiguration, type Levels } from '@lead-scoring/scoring-domain';
import { levelsSet, ruleCreated, rulesetCreated } from '@lead-scoring/scoring-domain/testing';
import {
  connectReadModel,
  databaseName,
  deletePartition,
  ensureCollections,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  createSealing,
  internalAuthorizationHeader,
  signInternal,
} from '@lead-scoring/service';
import { foldedRecord } from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { notificationIdOf, type SurgeTrigger, type Trigger } from '@lead-scoring/scoring-domain/triggers';
import {
  act,
  configurationOf,
  decidedBy,
  eventsIngested,
  idOf,
  leadId,
  leadScored,
  levelsFrom,
  milestone,
  milestoneAt,
  ouId,
  second,
  sequence,
  surge,
  type Act,
} from '../testing/firing-builders.js';
import { createScoringReader, type ScoringReader } from '../levels/reader.js';
import { explanationsName, notificationExplanations } from '../explanations/capability.js';
import { createExplanations } from '../explanations/reader.js';
import { createShareLinks, type ShareLinks } from '../share-links.js';
import { FiringPartition } from './partition.js';
import { firingQueries, suppressionsOf } from './queries.js';
import { previewSurge } from './preview-surge.js';
import { simulateMilestone, simulateSequence, simulateSurge } from './simulate.js';
import { firingCollections } from './documents.js';
import { createTriggerReader } from './trigger-reader.js';

const partition = 0;
const bounds = { timeMs: 10_000, events: 100_000 };
const range = { from: second(0), to: second(1_000) };

/** A partition of the service with a log in memory. */
interface Service {
  readModel: ReadModel;
  explanations: ExplanationReader;
  scoringReader: ScoringReader;
  /** Opens the partition anew, as after a restart. */
  /** Opens the partition as after a crash: unwritten changes are lost and folded again. */
  reopen(): Promise<void>;
  scoring(log: readonly FoldedRecord[]): Promise<void>;
  explain(log: readonly FoldedRecord[]): Promise<void>;
  /** Decides on records, appends and folds the events, and writes. */
  take(log: readonly FoldedRecord[], again?: number, isTime?: boolean): Promise<void>;
  /** Resets the partition and folds the whole log again. */
  rebuild(): Promise<void>;
  own: FoldedRecord[];
  commands: records.RequestNotification[];
  shares: records.CreateShare[];
  documents(): Promise<Record<string, unknown[]>>;
  close(): Promise<void>;
}

async function startService(
  triggers: readonly Trigger[],
  {
    timeoutMs = 5_000,
    shareLinks = null,
    catchUp = () => Promise.resolve(true),
    catchUpRules = () => Promise.resolve(true),
  }: {
    timeoutMs?: number;
    shareLinks?: ShareLinks | null;
    catchUp?: (service: Service) => Promise<boolean>;
    catchUpRules?: () => Promise<boolean>;
  } = {},
): Promise<Service> {
  const readModel = await connectReadModel(
    {
      uri: process.env.MONGODB_URI ?? '',
      database: databaseName(`firing-${randomUUID().slice(0, 8)}`, 'notification'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  await ensureCollections(readModel, [...firingCollections, ...explanationCollections]);
  const configuration = configurationOf(triggers);
  const explanations = notificationExplanations({ cachedLeads: 10 });
  const projection = openFollowerPartition(explanations, readModel, partition);
  await projection.checkpoint();
  const scoringReader = createScoringReader(readModel, () => catchUp(service));
  const open = () =>
    new FiringPartition(
      { readModel, partition },
      {
        triggers: createTriggerReader(
          { load: () => Promise.resolve(new Map([[ouId, configuration]])) },
          scoringReader,
        ),
        explanations: createExplanations(readModel, catchUpRules, { timeoutMs }),
        shareLinks,
        // Fewer than there are leads, so that states are evicted.
        cachedLeads: 1,
      },
    );
  let firing = open();
  const own: FoldedRecord[] = [];
  const commands: records.RequestNotification[] = [];
  const shares: records.CreateShare[] = [];
  const explain = async (log: readonly FoldedRecord[]) => {
    await projection.fold([...log]);
    const last = log.at(-1);
    if (last)
      await projection.store({
        offset: 0n,
        positions: { 'scoring.events': last.offset + 1n },
      });
  };
  /** Number of own events whose changes are written. */
  let written = 0;
  const take = async (log: readonly FoldedRecord[], again = 0, isTime = true) => {
    const { events, commands: asked } = await decidedBy(firing, log);
    const folded = own.slice(own.length - Math.min(again, own.length));
    const appended = events.map(({ declaration, payload }: OutgoingRecord, index) =>
      foldedRecord(declaration, payload, own.length + index),
    );
    own.push(...appended);
    for (const { declaration, payload } of asked)
      if (declaration === records.createShare) shares.push(payload as records.CreateShare);
      else commands.push(payload as records.RequestNotification);
    await firing.fold([...folded, ...appended]);
    if (!isTime) return;
    await firing.write(AbortSignal.abort());
    written = own.length;
  };
  const service: Service = {
    readModel,
    explanations: createExplanationReader(readModel, explanationsName),
    scoringReader,
    own,
    commands,
    shares,
    explain,
    take,
    scoring: async (log) => {
      await explain(log);
      await take(log);
    },
    reopen: async () => {
      firing = open();
      await firing.fold(own.slice(written));
    },
    rebuild: async () => {
      await firing.beforeReset();
      for (const collection of firingCollections)
        await deletePartition<{ partition: number }>(readModel, collection, partition, () => undefined);
      firing = open();
      expect(Object.values(await service.documents()).flat()).toEqual([]);
      await firing.fold(own);
    },
    documents: async () => {
      await firing.write(AbortSignal.abort());
      const documents: Record<string, unknown[]> = {};
      for (const { name } of firingCollections)
        documents[name] = JSON.parse(
          JSON.stringify(await readModel.db.collection(name).find().sort({ _id: 1 }).toArray()),
        ) as unknown[];
      return documents;
    },
    close: async () => {
      await readModel.patiently((db) => db.dropDatabase());
      await readModel.close();
    },
  };
  return service;
}

/** Decisions on the acts of some leads in turn, one for each act, at these offsets. */
function scoringLog(acts: readonly Act[], leads: readonly string[] = ['ada']): FoldedRecord[] {
  const scores = new Map<string, number>();
  return acts.map((one, index) => {
    const lead = leads[index % leads.length] ?? '';
    const before = scores.get(lead);
    const previous = before ?? 0;
    scores.set(lead, previous + (one.points ?? 0));
    return foldedRecord(
      records.leadScored,
      leadScored([one], previous, one.at, {
        lead_id: idOf(lead),
        ...(before === undefined && { new_lead: true }),
      }),
      index * 2,
    );
  });
}

const pointsOf = (count: number, points: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => act(`e${String(index)}`, 'Page View', index, points(index)));

describe('any division of the log into batches', () => {
  const triggers = [
    milestone({
      score_threshold: 20,
      rearm: { below: 10, cooldown_seconds: 0 },
      channel_ids: [idOf('channel')],
    }),
    surge({ threshold: 25, window_seconds: 10 }),
  ];
  const log = scoringLog(
    pointsOf(30, (index) => [10, 15, -20, 12, 9][index % 5] ?? 0),
    ['ada', 'bob', 'cy'],
  );

  async function run(cuts: readonly (readonly [number, number, boolean])[]) {
    const service = await startService(triggers);
    try {
      await service.explain(log);
      let from = 0;
      for (const [size, again, isTime] of [...cuts, [log.length, 0, true] as const]) {
        if (from >= log.length) break;
        if (again > 0) await service.reopen();
        await service.take(log.slice(from, from + size), again, isTime);
        from += size;
      }
      return {
        documents: await service.documents(),
        own: service.own.map(({ type, payload }) => ({ type, payload })),
        commands: service.commands,
      };
    } finally {
      await service.close();
    }
  }

  test('with any repeated fold after a restart, gives the same firings and documents', async () => {
    const whole = await run([]);
    expect(whole.documents.lead_states).toHaveLength(3);
    expect(whole.documents.fired_events?.length).toBeGreaterThan(5);
    expect(whole.commands.length).toBeGreaterThan(2);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 4 }), fc.boolean()), {
          maxLength: 30,
        }),
        async (cuts) => {
          expect(await run(cuts)).toEqual(whole);
        },
      ),
      { numRuns: 6 },
    );
  }, 120_000);

  test('a reset and a replay of the log give the same documents and request no notification again', async () => {
    const service = await startService(triggers);
    try {
      await service.scoring(log);
      const before = await service.documents();
      const asked = service.commands.length;
      await service.rebuild();
      expect(await service.documents()).toEqual(before);
      expect(service.commands).toHaveLength(asked);
      // Records that were decided on before change nothing.
      await service.take(log);
      expect(await service.documents()).toEqual(before);
    } finally {
      await service.close();
    }
  }, 60_000);
});

describe('a notification', () => {
  test('has the drivers and the level of the score as of the record that made the trigger fire', async () => {
    const service = await startService([
      milestone({ score_threshold: 20, channel_ids: [idOf('a'), idOf('b')] }),
    ]);
    try {
      const rules = [
        foldedRecord(records.rulesetCreated, rulesetCreated({ ou_id: ouId }), 0),
        foldedRecord(records.ruleCreated, ruleCreated('rule', 10, { ou_id: ouId }), 1),
        foldedRecord(
          records.engagementLevelsSet,
          {
            ...levelsSet([
              ['Cold', null, 15],
              ['Warm', 16, 25],
              ['Hot', 26, null],
            ]),
            ou_id: ouId,
          },
          2,
        ),
      ];
      const log = scoringLog(pointsOf(4, () => 10)).map((one, index) => ({
        ...one,
        offset: BigInt(index + 3),
      }));
      // The explanations are ahead of the decision.
      await service.explain([...rules, ...log]);
      await service.take(log.slice(0, 3));
      const [fired] = service.own.filter(({ type }) => type === 'MilestoneFired');
      expect(fired?.payload).toMatchObject({
        score: 20,
        previous_score: 10,
        level: 'Warm',
        lead: {
          id: leadId,
          name: 'ada@example.com',
          aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }],
        },
        top_drivers: [
          {
            rule_id: idOf('rule'),
            count: 2,
            weight: 10,
            total: 20,
            label: 'label of rule',
            filter_label: 'path contains "/rule"',
          },
        ],
        source: { topic: 'scoring.events', partition, offset: 4 },
      });
      const firingId = (fired?.payload as records.MilestoneFired | undefined)?.firing_id ?? '';
      expect(service.commands).toEqual(
        [idOf('a'), idOf('b')].map((channel_id) =>
          expect.objectContaining({ channel_id, notification_id: notificationIdOf(firingId, channel_id) }),
        ),
      );
      for (const { payload } of service.commands) {
        expect(notificationPayload.parse(payload)).toEqual(payload);
        expect(payload).toMatchObject({
          type: 'trigger.milestone.fired',
          data: {
            firing_id: firingId,
            unit_id: ouId,
            position: 'scoring.events:0:4',
            threshold: 20,
            direction: 'up',
          },
        });
      }
    } finally {
      await service.close();
    }
  }, 60_000);

  test('is smaller than the limit, however many aliases and drivers the lead has', async () => {
    const service = await startService([milestone({ score_threshold: 1, channel_ids: [idOf('a')] })]);
    try {
      const aliases = Array.from({ length: 100 }, (_, index) => ({
        alias_kind: 'external_id',
        alias: `${String(index)}${'語'.repeat(500)}`,
      }));
      const payload = leadScored([act('a', 'x', 0, 5)], 0, 0, { aliases });
      await service.scoring([foldedRecord(records.leadScored, payload, 0)]);
      const [asked] = service.commands;
      expect(Buffer.byteLength(JSON.stringify(asked?.payload))).toBeLessThan(maximumNotificationBytes);
      expect(notificationPayload.parse(asked?.payload)).toMatchObject({ data: { lead: { id: leadId } } });
    } finally {
      await service.close();
    }
  }, 60_000);

  test('of a sequence has the newest known score: the score after the event may not be decided yet', async () => {
    const service = await startService([sequence(['A', 'B'], { channel_ids: [idOf('a')] })]);
    try {
      const fields = [{ field: 'name' as const, value: 'Ada Lovelace', at: second(0) }];
      await service.take([
        foldedRecord(
          records.eventsIngested,
          eventsIngested([act('a', 'A', 0), act('b', 'B', 1)], 1, { fields }),
          0,
        ),
      ]);
      expect(service.commands).toMatchObject([
        {
          payload: {
            type: 'trigger.sequence.fired',
            data: { lead: { name: 'Ada Lovelace' }, score: 0, top_drivers: [], steps: [{}, {}] },
          },
        },
      ]);
      await service.scoring(scoringLog([act('c', 'x', 2, 7)]));
      await service.take([
        foldedRecord(records.eventsIngested, eventsIngested([act('d', 'A', 3), act('e', 'B', 4)], 4), 1),
      ]);
      expect(service.commands[1]).toMatchObject({
        payload: { data: { score: 7, top_drivers: [{ total: 7 }] } },
      });
    } finally {
      await service.close();
    }
  }, 60_000);

  test('has the same share link for all channels, and a trigger without channels creates none', async () => {
    const shareLinks = createShareLinks(
      createSealing('a secret of tests that is long enough'),
      'https://app.example.com',
    );
    const told = { channel_ids: [idOf('a'), idOf('b')] };
    const service = await startService(
      [
        milestone({ score_threshold: 20, ...told }),
        milestone({ score_threshold: 20 }, 'untold'),
        sequence(['A', 'B'], told),
      ],
      { shareLinks },
    );
    try {
      const visit = (n: number) => eventsIngested([act(`a${n}`, 'A', n), act(`b${n}`, 'B', n)], n);
      // Scoring has decided nothing on the lead yet.
      await service.take([foldedRecord(records.eventsIngested, visit(1), 7)]);
      await service.scoring(scoringLog(pointsOf(3, () => 10)));
      // A later decision may be on another lead with the same id.
      await service.take([foldedRecord(records.eventsIngested, visit(2), 8)]);
      expect(service.own.filter(({ type }) => type.endsWith('Fired'))).toHaveLength(4);
      expect(service.shares.map(({ lead_seen_in, created_by }) => [lead_seen_in, created_by])).toEqual([
        [{ topic: 'ingest.events', offset: 7 }, idOf('sequence')],
        [{ topic: 'scoring.events', offset: 2 }, idOf('milestone')],
        [{ topic: 'scoring.events', offset: 4 }, idOf('sequence')],
      ]);
      expect(service.commands.map(({ share }) => share?.id)).toEqual(
        service.shares.flatMap(({ share_id }) => [share_id, share_id]),
      );
      const firings = service.commands.map(
        ({ payload }) => 'firing_id' in payload.data && payload.data.firing_id,
      );
      const tokens = firings.map((id) => (id === false ? '' : (shareLinks?.of(id).token ?? '')));
      expect(tokens.filter((token) => token.startsWith('lsh_'))).toHaveLength(6);
      const recorded = JSON.stringify([service.commands, service.shares, await service.documents()]);
      for (const token of tokens) expect(recorded).not.toContain(token);
    } finally {
      await service.close();
    }
  }, 60_000);

  test('waits for the explanations of earlier decisions, and nothing is decided while they are behind', async () => {
    const service = await startService([milestone({ score_threshold: 10, direction: 'up' })], {
      timeoutMs: 50,
    });
    try {
      const log = scoringLog(pointsOf(3, () => 6));
      // All decisions on the lead pass through the partition.
      await service.take(log.slice(0, 2));
      expect(service.own).toMatchObject([
        { type: 'MilestoneFired', payload: { score: 12, top_drivers: [{ count: 2, total: 12 }] } },
      ]);
      const next = scoringLog(
        pointsOf(3, () => 6),
        ['bob'],
      ).map((one, index) => ({
        ...one,
        offset: BigInt(10 + index),
      }));
      await service.reopen();
      const failed = await service.take(next.slice(1)).catch((error: unknown) => error);
      expect(isRetriable(failed)).toBe(true);
      expect(service.own).toHaveLength(1);
      await service.explain(next.slice(0, 1));
      await service.take(next.slice(1));
      expect(service.own.slice(1)).toMatchObject([
        { type: 'MilestoneFired', payload: { score: 12, top_drivers: [{ count: 2, total: 12 }] } },
      ]);
      // A new lead has no earlier decisions to wait for.
      await service.reopen();
      await service.take([
        foldedRecord(
          records.leadScored,
          leadScored([act('c1', 'A', 1, 11)], 0, 1, { lead_id: idOf('cy'), new_lead: true }),
          20,
        ),
      ]);
      expect(service.own.slice(2)).toMatchObject([
        { type: 'MilestoneFired', payload: { lead_id: idOf('cy'), score: 11 } },
      ]);
    } finally {
      await service.close();
    }
  }, 60_000);

  test('names the rules of scoring’s decision, and waits for them once', async () => {
    const rules = [
      foldedRecord(records.rulesetCreated, { ...rulesetCreated(), ou_id: ouId }, 100),
      foldedRecord(
        records.ruleCreated,
        { ...ruleCreated('rule', 6), ou_id: ouId, rule_id: idOf('rule'), ruleset_id: idOf('ruleset') },
        101,
      ),
    ];
    /** Each lead fires with its second act. */
    const log = scoringLog(
      pointsOf(6, () => 6),
      ['ada', 'ada', 'bob', 'bob', 'cy', 'cy'],
    );
    const label = 'label of rule';
    for (const [comeInTime, labels] of [
      [true, [label, label, label]],
      [false, [undefined, undefined, label]],
    ] as const) {
      let waits = 0;
      const service: Service = await startService([milestone({ score_threshold: 10 })], {
        catchUpRules: async () => {
          waits += 1;
          if (comeInTime) await service.explain(rules);
          return comeInTime;
        },
      });
      try {
        await service.take(log.slice(0, 2));
        await service.take(log.slice(2, 4));
        await service.explain(rules);
        await service.take(log.slice(4));
        const fired = service.own.map(({ payload }) => payload as records.MilestoneFired);
        expect([waits, fired.map(({ top_drivers }) => top_drivers[0]?.label)]).toEqual([1, labels]);
      } finally {
        await service.close();
      }
    }
  }, 60_000);

  test('is the same for any division into batches and any progress of the explanations', async () => {
    const triggers = [milestone({ score_threshold: 15, rearm: { below: 10, cooldown_seconds: 0 } })];
    const log = scoringLog(
      pointsOf(24, (index) => [9, 8, -12, 7][index % 4] ?? 0),
      ['ada', 'bob', 'cy'],
    );
    const removed = foldedRecord(
      records.leadRemoved,
      {
        ou_id: ouId,
        lead_id: idOf('ada'),
        previous_score: 0,
        deletion_id: idOf('gone'),
        removed_at: second(0),
      },
      0,
    );
    const placed = (records: readonly FoldedRecord[]) =>
      records.map((one, index) => ({ ...one, offset: BigInt(index) }));
    /** In the middle a lead is deleted; later records belong to a new lead with its id. */
    const ended = placed([...log.slice(0, 12), removed, ...log.slice(12)]);
    const told = async (all: readonly FoldedRecord[], sizes: readonly number[], ahead: number) => {
      const service = await startService(triggers);
      try {
        let from = 0;
        for (const size of [...sizes, all.length]) {
          await service.explain(all.slice(0, from + ahead));
          await service.take(all.slice(from, from + size));
          from += size;
          if (size % 2 === 1) {
            await service.explain(all.slice(0, from));
            await service.reopen();
          }
        }
        return service.own.flatMap(({ type, payload }) =>
          type === 'MilestoneFired' ? [payload as records.MilestoneFired] : [],
        );
      } finally {
        await service.close();
      }
    };
    // The explanations forget a deleted lead, so they may not be ahead of its deletion.
    const cases = [
      { all: ended, aheads: [0] },
      { all: placed(log), aheads: [0, 3, log.length] },
    ];
    for (const { all, aheads } of cases) {
      const whole = await told(all, [], 0);
      expect(whole.length).toBeGreaterThan(3);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 8 }),
          fc.constantFrom(...aheads),
          async (sizes, ahead) => {
            expect(await told(all, sizes, ahead)).toEqual(whole);
          },
        ),
        { numRuns: 4 },
      );
    }
  }, 120_000);
});

describe('levels', () => {
  const triggers = [milestoneAt('Hot'), surge({ threshold: 25, window_seconds: 10 })];
  const hotFrom = (bound: number, offset: number) =>
    foldedRecord(records.engagementLevelsSet, { ...levelsSet([['Hot', bound, null]]), ou_id: ouId }, offset);
  const decided = (lead: string, score: number, configuration_version: number, offset: number) =>
    foldedRecord(
      records.leadScored,
      leadScored([act(`${lead} ${String(offset)}`, 'Page View', offset, score)], 0, offset, {
        lead_id: idOf(lead),
        configuration_version,
      }),
      offset,
    );
  /** The bound of the level changes from 50 to 30; in between the level does not exist. */
  const log = [
    hotFrom(50, 0),
    decided('ada', 40, 1, 1),
    decided('bob', 60, 1, 2),
    hotFrom(30, 3),
    foldedRecord(records.rulesetCreated, rulesetCreated({ ou_id: ouId }), 4),
    decided('cy', 35, 2, 5),
    // Scoring decided this with the configuration from before the change.
    decided('dora', 35, 1, 6),
    decided('eve', 40, 3, 7),
  ];
  const fired = (service: Service) =>
    service.own.flatMap(({ type, payload }) => {
      if (type !== 'MilestoneFired') return [];
      const { lead_id, threshold, threshold_level } = payload as records.MilestoneFired;
      return [[lead_id, threshold, threshold_level]];
    });
  const expected = [
    [idOf('bob'), 50, 'Hot'],
    [idOf('cy'), 30, 'Hot'],
    [idOf('eve'), 30, 'Hot'],
  ];

  test('count as of scoring’s decision, for any division into batches and any progress of the fold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 8 }),
        fc.integer({ min: 0, max: log.length }),
        async (sizes, ahead) => {
          const service = await startService(triggers, {
            catchUp: async (behind) => {
              await behind.explain(log);
              return true;
            },
          });
          try {
            await service.explain(log.slice(0, ahead));
            let from = 0;
            for (const size of [...sizes, log.length]) {
              const batch = log.slice(from, from + size);
              // The description of a lead waits for the explanations separately.
              await service.explain(log.slice(0, Math.max(ahead, from)));
              await service.take(batch).catch(async (error: unknown) => {
                if (!isRetriable(error)) throw error;
                await service.explain(log.slice(0, Math.max(ahead, from + size)));
                await service.take(batch);
              });
              from += size;
            }
            expect(fired(service)).toEqual(expected);
          } finally {
            await service.close();
          }
        },
      ),
      { numRuns: 3 },
    );
  }, 120_000);

  test('are waited for only where they are not folded, and nothing is decided while they are behind', async () => {
    let waits = 0;
    let reached = false;
    const service = await startService(triggers, {
      catchUp: () => {
        waits += 1;
        return Promise.resolve(reached);
      },
    });
    try {
      await service.explain(log.slice(0, 3));
      await service.take(log.slice(0, 3));
      expect(waits).toBe(0);
      const failed = await service.take(log.slice(3)).catch((error: unknown) => error);
      expect(isRetriable(failed)).toBe(true);
      expect([waits, fired(service)]).toEqual([1, expected.slice(0, 1)]);
      reached = true;
      await service.explain(log);
      await service.take(log.slice(3));
      expect([waits, fired(service)]).toEqual([1, expected]);
      // Cached: not read again.
      await service.readModel.patiently((db) => db.collection('configurations').deleteMany({}));
      await service.take([decided('fay', 35, 3, 8)].map((one) => ({ ...one, offset: 7n })));
      expect([waits, fired(service).length]).toEqual([1, expected.length + 1]);
    } finally {
      await service.close();
    }
  }, 60_000);

  test('are not waited for where no trigger is by level', async () => {
    const service = await startService([milestone({ score_threshold: 50 })], {
      catchUp: () => Promise.reject(new Error('waits for levels')),
    });
    try {
      await service.scoring([decided('bob', 60, 9, 0)]);
      expect(fired(service)).toEqual([[idOf('bob'), 50, undefined]]);
    } finally {
      await service.close();
    }
  }, 60_000);
});

describe('the history', () => {
  const trigger = milestone({ score_threshold: 20, rearm: { cooldown_seconds: 0 } });
  const surging: SurgeTrigger = surge({ threshold: 25, window_seconds: 2 });
  const acts = pointsOf(60, (index) => [10, 15, -20, 12, 9][index % 5] ?? 0);
  let service: Service;

  beforeAll(async () => {
    service = await startService([trigger, surging]);
    await service.scoring(scoringLog(acts, ['ada', 'bob', 'cy']));
  }, 60_000);
  afterAll(() => service.close());

  const firedOf = (type: string) => service.own.filter((one) => one.type === type);
  const inService = (levels: Levels = []) => ({
    explanations: service.explanations,
    scoring: { ...emptyConfiguration(ouId), levels },
  });

  test('gives in a simulation the firings that it gave live', async () => {
    const simulated = await simulateMilestone(inService(), trigger, range, bounds);
    const lived = firedOf('MilestoneFired').map(({ payload }) => payload as records.MilestoneFired);
    expect(simulated).toMatchObject({
      total: lived.length,
      leads: new Set(lived.map(({ lead_id }) => lead_id)).size,
      leads_examined: 3,
      events_examined: 60,
      truncated: false,
    });
    expect(simulated.data.map(({ cause }) => cause.event_id).sort()).toEqual(
      lived.map(({ cause }) => cause.event_id).sort(),
    );
    expect(simulated.data.map(({ at }) => at)).toEqual(
      simulated.data
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    expect(simulated.data[0]?.lead.name).toBe('ada@example.com');
    const surges = await simulateSurge(service.explanations, surging, range, bounds);
    expect(surges.total).toBe(firedOf('SurgeFired').length);
  });

  test('by level is simulated with the current bound of the level', async () => {
    const levels = levelsFrom([
      ['Cold', null],
      ['Hot', 20],
    ]);
    const whole = await simulateMilestone(inService(), trigger, range, bounds);
    const simulated = await simulateMilestone(inService(levels), milestoneAt('hot'), range, bounds);
    expect(whole.total).toBeGreaterThan(0);
    expect(simulated).toEqual(whole);
    const missing = await simulateMilestone(inService(levels), milestoneAt('Boiling'), range, bounds);
    expect(missing).toEqual({ ...whole, data: [], total: 0, leads: 0 });
  });

  test('is re-armed in a simulation by a change of the score that no event caused', async () => {
    const rearmed = milestone({ score_threshold: 20, rearm: { below: 10, cooldown_seconds: 0 } });
    const one = await startService([rearmed]);
    try {
      const decided = [
        leadScored([act('a', 'Page View', 0, 20)], 0, 0),
        leadScored([], 20, 1, { score: 5 }),
        leadScored([act('b', 'Page View', 2, 10)], 5, 2),
        leadScored([act('c', 'Page View', 3, 10)], 15, 3),
      ];
      await one.scoring(decided.map((payload, offset) => foldedRecord(records.leadScored, payload, offset)));
      const lived = one.own.flatMap(({ type, payload }) =>
        type === 'MilestoneFired' ? [(payload as records.MilestoneFired).cause.event_id] : [],
      );
      const { explanations } = one;
      const simulated = await simulateMilestone(
        { explanations, scoring: emptyConfiguration(ouId) },
        rearmed,
        range,
        bounds,
      );
      expect(simulated.data.map(({ cause }) => cause.event_id).reverse()).toEqual(lived);
      expect(lived).toEqual([idOf('a'), idOf('c')]);
    } finally {
      await one.close();
    }
  }, 60_000);

  test('ends at the range and at the bounds of the simulation', async () => {
    const whole = await simulateMilestone(inService(), trigger, range, bounds);
    const half = await simulateMilestone(inService(), trigger, { from: second(20), to: second(40) }, bounds);
    expect(half.data.map(({ at }) => at)).toEqual(
      whole.data.map(({ at }) => at).filter((at) => at >= second(20) && at < second(40)),
    );
    const little = await simulateMilestone(inService(), trigger, range, { ...bounds, events: 10 });
    expect(little).toMatchObject({ truncated: true, events_examined: 10 });
  });

  test('for sequences has imported events and no events of another OU', async () => {
    const trigger = sequence(['A', 'B'], { ordered: true, window_seconds: 10 });
    const visit = (lead: string, at: number, more: Partial<records.EventsIngested> = {}) => [
      eventsIngested([act(`${lead} a ${String(at)}`, 'A', at)], 900, { lead_id: idOf(lead), ...more }),
      eventsIngested([act(`${lead} b ${String(at)}`, 'B', at + 5)], 900, { lead_id: idOf(lead), ...more }),
    ];
    const history = [
      ...visit('ada', 10),
      ...visit('ada', 20, { fire_triggers: false, source: 'import' }),
      ...visit('bob', 30, { ou_id: idOf('another OU') }),
      ...visit('cy', 400),
      ...visit('cy', 500),
    ];
    async function* ingestedSince() {
      for (const payload of history) yield await Promise.resolve(payload);
    }
    const simulated = await simulateSequence(
      { explanations: service.explanations, ingestedSince },
      trigger,
      { from: second(0), to: second(450) },
      bounds,
    );
    expect(simulated).toMatchObject({
      data: [
        { at: second(405), lead: { id: idOf('cy') } },
        { at: second(25), lead: { id: leadId } },
        { at: second(15), steps: [{ event_type: 'A' }, { event_type: 'B' }] },
      ],
      total: 3,
      leads: 2,
      leads_examined: 2,
      events_examined: 8,
      truncated: false,
    });
  });

  test('for a preview is the window that ends now', async () => {
    const now = new Date(second(57));
    const preview = await previewSurge(
      service.explanations,
      { ...surging, window_seconds: 20, threshold: 1 },
      now,
      bounds,
    );
    const gained = (lead: number) =>
      acts.reduce(
        (sum, { at, points = 0 }, index) => (index % 3 === lead && at >= 37 && at <= 57 ? sum + points : sum),
        0,
      );
    const expected = [0, 1, 2]
      .map(gained)
      .filter((gain) => gain >= 1)
      .sort((a, b) => b - a);
    expect(preview.data.map((one) => one.gained)).toEqual(expected);
    const scores = new Map(
      ['ada', 'bob', 'cy'].map((lead, nth) => [
        idOf(lead),
        acts.reduce((sum, { points = 0 }, index) => (index % 3 === nth ? sum + points : sum), 0),
      ]),
    );
    expect(preview.data.map(({ score }) => score)).toEqual(
      preview.data.map(({ lead }) => scores.get(lead.id)),
    );
    expect(preview).toMatchObject({ total: expected.length, leads_examined: 3, truncated: false });
  });
});

describe('over HTTP', () => {
  const channel_ids = [idOf('a'), idOf('b')];
  const triggers = [
    milestone({ score_threshold: 20, channel_ids }),
    sequence(['A', 'B'], { channel_ids }),
    surge({ threshold: 25, window_seconds: 10, channel_ids: [] }),
    // A trigger can be simulated before it is activated.
    milestoneAt('Hot', { active: false }, 'by level'),
  ];
  const [hot, visited, surging, byLevel] = triggers.map(({ id }) => id) as [string, string, string, string];
  const secret = 'a secret of tests that is long enough';
  let service: Service;
  let server: Awaited<ReturnType<ReturnType<typeof createQueryServer>['start']>>;

  beforeAll(async () => {
    service = await startService(triggers);
    await service.explain([
      foldedRecord(records.engagementLevelsSet, { ...levelsSet([['Hot', 20, null]]), ou_id: ouId }, 0),
    ]);
    await service.scoring(
      scoringLog(
        pointsOf(30, (index) => [10, 15, -20, 12, 9][index % 5] ?? 0),
        ['ada', 'bob'],
      ),
    );
    await service.take([
      foldedRecord(records.eventsIngested, eventsIngested([act('a', 'A', 0), act('b', 'B', 1)], 1), 0),
    ]);
    const configuration = configurationOf(triggers);
    server = await createQueryServer({
      host: '127.0.0.1',
      port: 0,
      routes: firingQueries({
        readModel: service.readModel,
        explanations: service.explanations,
        scoring: service.scoringReader,
        catchUp: () => Promise.resolve(true),
        configurations: {
          load: (ids) => Promise.resolve(new Map([...ids].map((id) => [id, configuration]))),
        },
        // One of the two deliveries has ended.
        deliveriesOf: (ids) =>
          Promise.resolve(
            new Map(
              ids.map((id) => {
                const delivery = notificationIdOf(id, idOf('a'));
                return [id, [{ id: delivery, channel_id: idOf('a'), status: 'delivered' as const }]];
              }),
            ),
          ),
        ingestedSince: async function* () {
          yield await Promise.resolve(eventsIngested([act('a', 'A', 0), act('b', 'B', 1)], 1));
        },
        simulateAccount: () => Promise.reject(new Error('no trigger here is by account score')),
        now: () => new Date(second(25)),
        history: bounds,
      }),
      healthChecks: {},
      internalSecret: secret,
      logger: createLogger({ name: 'test', level: 'silent' }),
      checkAnswers: true,
    }).start();
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await service.close();
  });

  interface Answer {
    status: number;
    // Untyped, so that a test can compare any field.
    body: { data: Record<string, unknown>[]; next_cursor?: string } & Record<string, unknown>;
  }

  async function ask(
    path: string,
    { body, ou = ouId }: { body?: object; ou?: string } = {},
  ): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${String(server.value.port)}${path}`, {
      method: body ? 'POST' : 'GET',
      ...(body && { body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        [internalAuthorizationHeader]: await signInternal(
          {
            ou_id: ou,
            organisation_id: ouId,
            credential_id: ouId,
            actor: 'test',
            role: 'editor',
            request_id: 'test',
          },
          {
            method: body ? 'POST' : 'GET',
            target: path,
            ...(body && { body: Buffer.from(JSON.stringify(body)) }),
          },
          secret,
        ),
      },
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }

  test('firings are listed page by page, newest first, with their deliveries', async () => {
    const fired = service.own.flatMap(({ type, payload }) =>
      type === 'MilestoneFired' ? [payload as records.MilestoneFired] : [],
    );
    const newestFirst = fired
      .toSorted((a, b) => (a.fired_at < b.fired_at ? 1 : -1))
      .map(({ firing_id }) => firing_id);
    const first = await ask('/milestone-events?limit=2');
    expect(first).toMatchObject({ status: 200, body: { total: fired.length } });
    const rest = await ask(`/milestone-events?cursor=${first.body.next_cursor ?? ''}&limit=100`);
    expect([...first.body.data, ...rest.body.data].map(({ id }) => id)).toEqual(newestFirst);
    expect(first.body.data[0]).toMatchObject({
      threshold: 20,
      direction: 'up',
      deliveries: [
        { channel_id: idOf('a'), status: 'delivered' },
        { channel_id: idOf('b'), status: 'pending' },
      ],
    });
    expect((await ask('/sequence-events')).body.data).toMatchObject([
      { steps: [{}, {}], trigger: { id: visited } },
    ]);
    expect((await ask('/surge-events')).body.data[0]).toMatchObject({ threshold: 25, deliveries: [] });
  });

  test('firings are filtered by trigger, lead and time', async () => {
    const total = async (query: string) => (await ask(`/milestone-events?${query}`)).body.total;
    const all = await total('page=1');
    expect(await total(`trigger_id=${hot.toUpperCase()}`)).toBe(all);
    expect(await total(`trigger_id=${surging}`)).toBe(0);
    expect(Number(await total(`lead_id=${leadId}`)) + Number(await total(`lead_id=${idOf('bob')}`))).toBe(
      all,
    );
    expect(Number(await total(`to=${second(10)}`)) + Number(await total(`from=${second(10)}`))).toBe(all);
    expect((await ask('/milestone-events', { ou: idOf('another OU') })).body).toMatchObject({ total: 0 });
    expect(await ask('/milestone-events?cursor=abc')).toMatchObject({ status: 400 });
  });

  test('each kind is simulated, and a surge previewed, only by the routes of its own kind', async () => {
    const from = { from: second(0) };
    for (const [path, found] of [
      [`/triggers/${hot}/simulate`, service.own.filter(({ type }) => type === 'MilestoneFired').length],
      [`/triggers/${byLevel}/simulate`, service.own.filter(({ type }) => type === 'MilestoneFired').length],
      [`/sequences/${visited}/simulate`, 1],
    ] as const) {
      const { status, body } = await ask(path, { body: { ...from, to: second(100) } });
      expect({ status, total: body.total }).toEqual({ status: 200, total: found });
    }
    expect(await ask(`/surge-triggers/${surging}/simulate`, { body: from })).toMatchObject({ status: 200 });
    expect(await ask(`/surge-triggers/${surging}/preview`, { body: {} })).toMatchObject({
      status: 200,
      body: { leads_examined: 2, truncated: false },
    });
    for (const path of [`/triggers/${surging}/simulate`, `/surge-triggers/${hot}/preview`])
      expect(await ask(path, { body: {} })).toMatchObject({
        status: 404,
        body: { code: 'trigger_not_found' },
      });
    expect(await ask(`/triggers/${hot}/simulate`, { body: { since: 'ever' } })).toMatchObject({
      status: 400,
    });
  });
});

test('a trigger shows its suppressions until they end', async () => {
  const service = await startService([surge({ threshold: 1 })]);
  try {
    await service.scoring(
      scoringLog(
        pointsOf(90, () => 5),
        ['ada', 'bob', 'cy'],
      ),
    );
    const silent = (at: string) => suppressionsOf(service.readModel, ouId, [surge().id], new Date(at));
    const found = (await silent(second(100))).get(surge().id);
    expect(found).toEqual({ leads: 3, last_at: second(62), until: second(62 + 3_600) });
    expect(await silent(second(62 + 3_600))).toEqual(new Map());
  } finally {
    await service.close();
  }
}, 60_000);
