// A batch in which more rules match than are decided at once, on real servers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records as declarations } from '@lead-scoring/contracts';
import {
  createProcessor,
  isRecord,
  outgoing,
  type Component,
  type ProcessorStatus,
} from '@lead-scoring/event-log';
import { openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { createConfigurationReader } from './configuration/store.js';
import { scoringInputs } from './inputs.js';
import { openPartition, processorName, scoringCollections } from './partition-state.js';
import { createRule, ingested, ouId } from './testing/builders.js';

let rig: ServiceRig;
beforeAll(async () => {
  rig = await openServiceRig({
    service: processorName,
    collections: scoringCollections,
    ouId,
    partitions: 1,
  });
}, 60_000);
afterAll(() => rig.stop(), 60_000);

function processor(sizes: number[]): Component<ProcessorStatus> {
  const { log, readModel, logger, onFatal } = rig;
  return createProcessor(log, {
    name: processorName,
    inputs: scoringInputs,
    output: 'scoring.events',
    open: (partition) => {
      const configurations = createConfigurationReader(readModel);
      const state = openPartition(readModel, partition, {
        configurations,
        cachedLeads: 1_000,
        maximumMatches: 10,
      });
      return Promise.resolve({
        ...state,
        decide: (records) => {
          if (records[0]?.topic === 'ingest.events') sizes.push(records.length);
          return state.decide(records);
        },
      });
    },
    logger,
    onFatal,
  });
}

/** The sizes in which so many records are decided, where ten are not too many. */
function halved(records: number): number[] {
  if (records <= 10) return [records];
  return [records, ...halved(Math.ceil(records / 2)), ...halved(Math.floor(records / 2))];
}

test('it is decided in halves, every event counts once, and nothing is parked', async () => {
  const stop = await rig.run(processor([]));
  const { type, payload } = createRule('view', { weight: 1 });
  expect(type).toBe('CreateRule');
  await rig.request(outgoing(declarations.createRule, { key: ouId, payload: payload as never }));
  await stop();

  const leads = Array.from({ length: 32 }, (_, index) => `lead-${String(index)}`);
  await rig.write(
    leads.map((lead) => {
      const event = ingested(lead, [{}]);
      return outgoing(declarations.eventsIngested, { key: event.lead_id, payload: event });
    }),
  );
  const sizes: number[] = [];
  await rig.run(processor(sizes));
  await rig.deliver(processorName, [
    outgoing(declarations.eventsIngested, {
      key: ingested('last', []).lead_id,
      payload: ingested('last', [{}]),
    }),
  ]);

  const [whole = 0] = sizes;
  expect(whole).toBeGreaterThanOrEqual(leads.length);
  expect(sizes.slice(0, 7)).toEqual(halved(whole));
  const scored = await rig.recordsOn('scoring.events');
  const leadIds = scored.filter((one) => isRecord(one, declarations.leadScored)).map(({ key }) => key);
  expect(leadIds).toHaveLength(leads.length + 1);
  expect(new Set(leadIds).size).toBe(leads.length + 1);
  expect(await rig.recordsOn('scoring.dead-letters')).toEqual([]);
}, 60_000);
