// A reader that is behind: the cause, the expected wait and the runbook.
import { expect, test } from '@jest/globals';
import { lagOutlook } from './doctor-lag.js';

const at = (lag: bigint, partition = 3) => ({
  reader: 'scoring',
  topic: 'ingest.events' as const,
  partition,
  lag,
});

test('a lag that falls says when it is gone', () => {
  const { detail, remedy } = lagOutlook(at(5_000n), [at(9n, 2), at(4_400n)], 3);
  expect(detail).toBe(
    '4400 records of ingest.events, partition 3: it falls by 200 a second, and is gone in about 22s at this rate',
  );
  expect(remedy).toMatch(/^wait; .*more-processes\.md$/);
});

test.each([
  [5_000n, /^no process .*stuck-partition\.md$/],
  [6_000n, /^more comes in .*stuck-partition\.md$/],
])('a lag of 5000 that is %s later says why it may not fall', (later, remedy) => {
  const outlook = lagOutlook(at(5_000n), [at(later)], 3);
  expect(outlook.detail).toBe(`${later} records of ingest.events, partition 3: it does not fall`);
  expect(outlook.remedy).toMatch(remedy);
});
