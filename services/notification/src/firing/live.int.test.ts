// Firing on real servers while partitions change owners: each crossing fires once and requests one notification per channel.
import { expect, test } from '@jest/globals';
import { createServiceProcessor, type ServiceCapabilities } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, takingAll, type OutgoingRecord } from '@lead-scoring/event-log';
import { explanationCollections } from '@lead-scoring/explanations';
import { openServiceRig } from '@lead-scoring/testing/service-rig';
import { notificationIdOf } from '@lead-scoring/scoring-domain/triggers';
import { act, configurationOf, idOf, leadScored, milestone, ouId } from '../testing/firing-builders.js';
import { createScoringReader } from '../levels/reader.js';
import { firingCapability } from './capability.js';
import { notificationExplanations } from '../explanations/capability.js';
import { createCatchUp } from '../explanations/catch-up.js';
import { createExplanations } from '../explanations/reader.js';
import { firingCollections } from './documents.js';
import { createTriggerReader } from './trigger-reader.js';

const name = 'notification';
const threshold = 20;
const trigger = milestone({ score_threshold: threshold, channel_ids: [idOf('channel')] });

async function startFiring() {
  const rig = await openServiceRig({
    service: name,
    collections: [...firingCollections, ...explanationCollections],
    ouId,
  });
  const { log, readModel, logger, onFatal } = rig;
  const configurations = { load: () => Promise.resolve(new Map([[ouId, configurationOf([trigger])]])) };
  const catchUp = createCatchUp(readModel, log, { timeoutMs: 10_000 });
  const scoring = createScoringReader(readModel, catchUp);
  const triggers = createTriggerReader(configurations, scoring);
  const explanations = createExplanations(readModel, catchUp, { timeoutMs: 10_000 });
  const service: ServiceCapabilities = {
    name,
    capabilities: [firingCapability({ triggers, explanations, shareLinks: null, cachedLeads: 3 })],
    followers: [notificationExplanations({ cachedLeads: 100 })],
    inputs: takingAll('scoring.events', 'ingest.events', 'notification.commands'),
    collections: firingCollections,
    batching: {
      maxRecordsPerBatch: 7,
      // Rare writes, so that new owners fold unwritten events again.
      storeEveryMs: 2_000,
    },
    storesEventsEnd: false,
    version: 1,
  };
  const start = () => rig.run(createServiceProcessor(log, service, { readModel, logger, onFatal }));
  return { rig, start };
}

/** Decisions on leads in turn; some of their scores pass the milestone again and again. */
function decisions(count: number): { sent: OutgoingRecord[]; crossings: string[] } {
  const leads = Array.from({ length: 12 }, (_, index) => idOf(`lead ${String(index)}`));
  const scores = new Map<string, number>();
  const crossings: string[] = [];
  const sent = Array.from({ length: count }, (_, index) => {
    const lead_id = leads[index % leads.length] ?? '';
    const points = [12, 9, -15, 14, 3, -11][Math.floor(index / leads.length) % 6] ?? 0;
    const before = scores.get(lead_id) ?? 0;
    scores.set(lead_id, before + points);
    const event = `e${String(index)}`;
    if (before < threshold && before + points >= threshold) crossings.push(idOf(event));
    const payload = leadScored([act(event, 'Page View', index, points)], before, index, { lead_id });
    return outgoing(records.leadScored, { key: lead_id, payload });
  });
  return { sent, crossings };
}

test('each crossing fires once while partitions change owners, and a rebuild fires nothing', async () => {
  const { rig, start } = await startFiring();
  try {
    const { sent, crossings } = decisions(600);
    expect(crossings.length).toBeGreaterThan(40);
    let stop = await start();
    for (let from = 0; from < sent.length; from += 100) {
      await rig.write(sent.slice(from, from + 100));
      // In the middle of it.
      await stop();
      stop = await start();
    }
    // A last record per partition that fires nothing: once it is folded, everything is.
    const last = [0, 1, 2].map((partition) => ({
      ...outgoing(records.leadScored, {
        key: idOf('last'),
        payload: leadScored([act(`last ${String(partition)}`, 'x', 0, 100)], 0, 700, {
          lead_id: idOf(`last ${String(partition)}`),
        }),
      }),
      partition,
    }));
    await rig.deliver(name, last);

    const fired = (await rig.recordsOn('notification.events')).flatMap(({ type, payload }) =>
      type === 'MilestoneFired' ? [payload as records.MilestoneFired] : [],
    );
    const own = fired.filter(({ cause }) => crossings.includes(cause.event_id ?? ''));
    expect(own.map(({ cause }) => cause.event_id).sort()).toEqual(crossings.toSorted());
    expect(fired).toHaveLength(crossings.length + last.length);
    for (const { score, top_drivers } of own)
      expect(top_drivers.reduce((sum, { total }) => sum + total, 0)).toBe(score);
    const asked = (await rig.recordsOn('notification.commands')).flatMap(({ type, payload }) =>
      type === 'RequestNotification' ? [(payload as records.RequestNotification).notification_id] : [],
    );
    expect(asked.sort()).toEqual(
      fired.map(({ firing_id }) => notificationIdOf(firing_id, idOf('channel'))).sort(),
    );

    const before = await rig.documents(firingCollections);
    await rig.rebuild();
    expect(await rig.documents(firingCollections)).toEqual(before);
    expect((await rig.recordsOn('notification.events')).length).toBe(fired.length);
  } finally {
    await rig.stop();
  }
}, 120_000);
