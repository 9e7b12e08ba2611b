// The settings that say how many processes of a service run.
import { expect, test } from '@jest/globals';
import { serviceNames } from '@lead-scoring/contracts';
import { processesPerService } from './processes-per-service.js';

test('each service has one process unless it is told otherwise', () => {
  expect(processesPerService({})).toEqual(Object.fromEntries(serviceNames.map((name) => [name, 1])));
  expect(
    processesPerService({ SCORING_PROCESSES: '2', SITE_ANALYSIS_PROCESSES: '3', INGEST_PROCESSES: '' }),
  ).toMatchObject({ scoring: 2, 'site-analysis': 3, ingest: 1 });
});

test.each(['0', '-1', '1.5', 'two', '49'])('%j is refused with the name of the variable', (text) => {
  expect(() => processesPerService({ SCORING_PROCESSES: text })).toThrow(
    `SCORING_PROCESSES is "${text}"; it must be a whole number from 1 to 48.`,
  );
});

test('several gateways are refused: nothing distributes the requests among them', () => {
  expect(() => processesPerService({ GATEWAY_PROCESSES: '2' })).toThrow('GATEWAY_PROCESSES is 2');
});
