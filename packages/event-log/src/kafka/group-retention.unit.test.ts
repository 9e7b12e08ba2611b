// Group offsets must be kept as long as the records.
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Admin } from 'kafkajs';
import { checkGroupRetention, neededGroupRetention } from './group-retention.js';

test('the needed retention of group offsets is the longest retention of a topic, or unlimited', () => {
  expect(neededGroupRetention([60_000, -1])).toBe(2_147_483_647);
  expect(neededGroupRetention([60_000, 604_800_000])).toBe(10_080);
});

/** An admin client of two brokers with these settings. */
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

test('a shorter retention is logged with the value to set', async () => {
  const [line, ...others] = await warnings(brokersThatKeep(2_147_483_647, 10_080));
  expect(others).toEqual([]);
  expect(JSON.parse(line ?? '')).toMatchObject({ is: 10_080, wanted: 2_147_483_647 });
  expect(line).toContain('set offsets.retention.minutes=2147483647');
});

test('an unlimited or unknown retention is not logged', async () => {
  expect(await warnings(brokersThatKeep(2_147_483_647))).toEqual([]);
  expect(await warnings(brokersThatKeep(undefined))).toEqual([]);
});
