// The aliases of a lead and the lead of an alias, through the query port.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import { deleteLead, ingest, leadOf, merge, otherOuId } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
}, 60_000);
afterAll(() => rig.stop(), 60_000);

const aliasesOf = (name: string, query = '') => rig.get(`/lead/${leadOf(name)}/aliases${query}`);
const listed = async (name: string) =>
  ((await aliasesOf(name)).body.data as routeDeclarations.LeadAlias[]).map(
    ({ alias_kind, alias, linked_at }) => [`${alias_kind}:${alias}`, linked_at !== undefined],
  );
const byAlias = (kind: string, alias: string, options = {}) =>
  rig.get(`/lead-by-alias?alias_kind=${kind}&alias=${encodeURIComponent(alias)}`, options);

describe('a lead with linked aliases', () => {
  test('lists its own alias first, then the others, also those of a lead that was merged into it', async () => {
    await rig.take([ingest([{ aliases: ['ada', 'cookie:one'] }])]);
    await rig.take([ingest([{ aliases: ['ada', 'phone:+4915112345678'] }])]);
    await rig.take([ingest([{ aliases: ['user_id:7', 'cookie:two'] }])]);
    await rig.take([merge('user_id:7', 'ada')]);
    await eventually(
      'the merged lead has no events',
      async () => (await aliasesOf('user_id:7')).status === 404,
    );
    await rig.take([ingest([{ aliases: ['ada'] }])]);
    const found = await listed('ada');
    expect(found[0]).toEqual(['email:ada@example.com', false]);
    expect(found.slice(1).sort()).toEqual([
      ['cookie:one', true],
      ['cookie:two', true],
      ['phone:+4915112345678', true],
      ['user_id:7', true],
    ]);
    const inCapitals = await rig.get(`/lead/${leadOf('ada').toUpperCase()}/aliases`);
    expect(inCapitals.body).toEqual((await aliasesOf('ada')).body);
    const { body } = await aliasesOf('ada', '?page=2&limit=2');
    expect(body).toMatchObject({ total: 5, page: 2, limit: 2 });
    expect(body.data).toHaveLength(2);
  });

  test('is found by each of its aliases, in any spelling', async () => {
    for (const [kind, alias] of [
      ['email', ' Ada@EXAMPLE.com '],
      ['cookie', 'one'],
      ['cookie', 'two'],
      ['phone', '+49 151 1234-5678'],
      ['user_id', '7'],
    ] as const)
      expect([alias, (await byAlias(kind, alias)).body.lead_id]).toEqual([alias, leadOf('ada')]);
    expect((await byAlias('email', 'Ada@EXAMPLE.com')).body.alias).toEqual({
      alias_kind: 'email',
      alias: 'ada@example.com',
    });
  });

  test('is not found by its aliases after its deletion, nor in another organizational unit', async () => {
    expect((await byAlias('cookie', 'one', { ou: otherOuId })).status).toBe(404);
    expect(await rig.request(deleteLead('ada'))).toEqual({ outcome: 'done' });
    expect((await aliasesOf('ada')).status).toBe(404);
    for (const alias of ['one', 'two'])
      expect((await byAlias('cookie', alias)).body).toMatchObject({ code: 'lead_not_found' });
  });
});

test('an alias that is not one of its kind is 400, an unknown one 404', async () => {
  expect((await byAlias('email', 'ada')).body).toMatchObject({ status: 400, code: 'invalid_request' });
  expect((await byAlias('email', 'nobody@example.com')).body).toMatchObject({
    status: 404,
    code: 'lead_not_found',
  });
});
