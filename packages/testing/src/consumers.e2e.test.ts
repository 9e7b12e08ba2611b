// Programs of others, in Python and Go, against a running system, at full size only: they need Python, Go and their package registries. They
// know what the system publishes of itself, and nothing else. The consumer for Node runs in contract-walk.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import {
  consumerExamples,
  followScores,
  untilScoresAgree,
  type ConsumerProgram,
} from './example-consumers.js';
import { isFullSize } from './full-size.js';
import { buildGo } from './go.js';
import { pythonWithPackages } from './python.js';
import { startTestSystem, type TestSystem } from './test-system.js';

(isFullSize ? describe : describe.skip)('programs in other languages', () => {
  let system: TestSystem;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lead-scoring-consumers-'));
    system = await startTestSystem();
    const rule = { event_type: 'Page View', weight: 10 };
    expect((await system.request('/engagement-scoring/rules', { body: rule })).status).toBe(201);
  }, 120_000);

  afterAll(async () => {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** Sends events of new leads. */
  const sendEvents = async (count: number) => {
    const events = Array.from({ length: count }, () => ({
      alias_kind: 'email',
      alias: `${randomUUID()}@example.com`,
      event_type: 'Page View',
    }));
    expect((await system.request('/ingest', { body: events })).status).toBe(202);
  };

  const programs: Record<string, () => Promise<ConsumerProgram>> = {
    Python: async () => {
      const { program } = await pythonWithPackages(join(consumerExamples, 'python/requirements.txt'));
      return { command: program, args: [join(consumerExamples, 'python/scores.py')] };
    },
    Go: () => Promise.resolve(buildGo(join(consumerExamples, 'go'), join(folder, 'scores'))),
  };

  describe.each(Object.keys(programs))('the consumer in docs/examples for %s', (language) => {
    const group = `crm.scores-${language.toLowerCase()}`;
    let program: ConsumerProgram;

    beforeAll(async () => {
      program = await (programs[language] as () => Promise<ConsumerProgram>)();
      await sendEvents(500);
    }, 600_000);

    test('has every score, and goes on where it has ended', async () => {
      const first = followScores(program, system, group);
      const leads = await untilScoresAgree(system, system.token, first);
      expect(leads).toBeGreaterThanOrEqual(500);
      expect(await first.stop()).toEqual({ code: 0, errors: '' });

      await sendEvents(50);
      const second = followScores(program, system, group);
      await eventually('the new scores are there', () => second.changes() >= 50);
      expect(await second.stop()).toEqual({ code: 0, errors: '' });
      expect(second.changes()).toBe(50);
    }, 180_000);

    test('follows a deletion', async () => {
      const followed = followScores(program, system, `${group}-deletion`);
      await untilScoresAgree(system, system.token, followed);
      const [id = ''] = followed.scores.keys();
      expect((await system.request(`/lead/${id}`, { method: 'DELETE' })).status).toBeLessThan(300);
      await eventually('the lead is gone', () => followed.scores.get(id) === null);
      expect(await followed.stop()).toEqual({ code: 0, errors: '' });
    }, 120_000);
  });
});
