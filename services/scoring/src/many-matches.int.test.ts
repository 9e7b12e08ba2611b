// A batch with more matches than the limit of one decision, on real servers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServiceProcessor, type ServiceCapabilities } from '@lead-scoring/capability';
import { records as declarations } from '@lead-scoring/contracts';
import { isRecord, type Component, type ProcessorStatus } from '@lead-scoring/event-log';
import type { ServiceRig } from '@lead-scoring/testing/service-rig';
import { createRule, ingested } from './testing/builders.js';
import { commandRecord, ingestRecord, openScoringRig, serviceOn } from './testing/rig.js';

let rig: ServiceRig;
beforeAll(async () => {
  rig = await openScoringRig({ partitions: 1 });
}, 60_000);
afterAll(() => rig.stop(), 60_000);

function processor(sizes: number[]): Component<ProcessorStatus> {
  const { log, readModel, logger, onFatal } = rig;
  const service = observed(serviceOn(readModel, { maximumMatches: 10 }), sizes);
  return createServiceProcessor(log, service, { readModel, logger, onFatal });
}

/** The service, which appends the number of records of each decision to `sizes`. */
function observed(service: ServiceCapabilities, sizes: number[]): ServiceCapabilities {
  return {
    ...service,
    capabilities: service.capabilities.map((capability) => {
      if (capability.kind !== 'policy') return capability;
      const open: typeof capability.open = (scope) => {
        const opened = capability.open(scope);
        const decide = opened.decide?.bind(opened);
        if (decide)
          opened.decide = (records, batch) => {
            sizes.push(records.length);
            return decide(records, batch);
          };
        return opened;
      };
      return { ...capability, open };
    }),
  };
}

/** The sizes of the batches in which this number of records is decided, if ten are within the limit. */
function halved(records: number): number[] {
  if (records <= 10) return [records];
  return [records, ...halved(Math.ceil(records / 2)), ...halved(Math.floor(records / 2))];
}

test('it is decided in halves, every event counts once, and nothing is parked', async () => {
  const stop = await rig.run(processor([]));
  await rig.request(commandRecord(createRule('view', { weight: 1 })));
  await stop();

  const leads = Array.from({ length: 32 }, (_, index) => `lead-${String(index)}`);
  await rig.write(leads.map((lead) => ingestRecord(ingested(lead, [{}]))));
  const sizes: number[] = [];
  await rig.run(processor(sizes));
  await rig.deliver('scoring', [ingestRecord(ingested('last', [{}]))]);

  const [whole = 0] = sizes;
  expect(whole).toBeGreaterThanOrEqual(leads.length);
  expect(sizes.slice(0, 7)).toEqual(halved(whole));
  const scored = await rig.recordsOn('scoring.events');
  const leadIds = scored.filter((one) => isRecord(one, declarations.leadScored)).map(({ key }) => key);
  expect(leadIds).toHaveLength(leads.length + 1);
  expect(new Set(leadIds).size).toBe(leads.length + 1);
  expect(await rig.recordsOn('scoring.dead-letters')).toEqual([]);
}, 60_000);
