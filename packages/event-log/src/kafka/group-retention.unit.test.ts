// Groups are remembered for as long as what they have read.
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Admin } from 'kafkajs';
import { checkGroupRetention, neededGroupRetention } from './group-retention.js';

test('groups are remembered for ever where a topic is kept for ever, else as long as the longest', () => {
  expect(neededGroupRetention([60_000, -1])).toBe(2_147_483_647);
  expect(neededGroupRetention([60_000, 604_800_000])).toBe(10_080);
});

/** Two brokers that are asked for their settings. */
function brokersThatKeep(...minutes: (number | undefined)[]): Admin {
  return {
    describeCluster: () =>
      Promise.resolve({ brokers: minutes.map((_, nodeId) => ({ nodeId, host: 'none', port: 1 })) }),
    describeConfigs: () =>
      Promise.resolve({
        resources: minutes.map((value) => ({
          configEntries:
            value === undefined
              ? []
              : [{ configName: 'offsets.retention.minutes', configValue: String(value) }],
        })),
      }),
  } as unknown as Admin;
}

async function warnings(admin: Admin): Promise<string[]> {
  const lines: string[] = [];
  await checkGroupRetention(
    admin,
    pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  );
  return lines;
}

test('brokers that forget sooner are named with what to set', async () => {
  const [line, ...others] = await warnings(brokersThatKeep(2_147_483_647, 10_080));
  expect(others).toEqual([]);
  expect(JSON.parse(line ?? '')).toMatchObject({ is: 10_080, wanted: 2_147_483_647 });
  expect(line).toContain('set offsets.retention.minutes=2147483647');
});

test('brokers that remember for ever, or do not tell, are not warned of', async () => {
  expect(await warnings(brokersThatKeep(2_147_483_647))).toEqual([]);
  expect(await warnings(brokersThatKeep(undefined))).toEqual([]);
});
