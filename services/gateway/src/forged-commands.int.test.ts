// A writer to the gateway's command topic without the gateways' secret cannot grant itself anything.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records, secretFrom, secretHashOf } from '@lead-scoring/contracts';
import {
  createRecordWriter,
  listDeadLetters,
  outgoing,
  retryDeadLetters,
  type DeadLetter,
  type OutgoingRecord,
} from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { bootstrapCommand } from './bootstrap.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ gateways: 2 });
}, 60_000);

afterAll(() => rig.stop(), 60_000);

async function deadLetters(): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for await (const letter of listDeadLetters(rig.log, 'gateway')) found.push(letter);
  return found;
}

/** Writes a command directly to the topic, without a gateway, and waits until it is a dead letter. */
async function writeForged(command: OutgoingRecord): Promise<DeadLetter> {
  const before = new Set((await deadLetters()).map(({ id }) => id));
  const { value: writer, stop } = await createRecordWriter(rig.log).start();
  await writer.write([command]);
  await stop();
  let letter: DeadLetter | undefined;
  await eventually('the command is parked', async () => {
    letter = (await deadLetters()).find(({ id }) => !before.has(id));
    return letter !== undefined;
  });
  if (!letter) throw new Error('unreachable');
  return letter;
}

async function isRefused(token: string): Promise<void> {
  for (const gateway of [0, 1])
    expect((await rig.call('GET', '/settings/tokens', { token, gateway })).status).toBe(401);
}

const now = new Date().toISOString();

test.each([
  ['that exists', 'Example'],
  ['that is new', 'Of the forger'],
])(
  'a forged bootstrap of an organisation %s grants nothing and is parked',
  async (_title, organisation) => {
    const before = await rig.identityDocuments();
    const token = secretFrom('lsp_', randomBytes(32));
    const letter = await writeForged(bootstrapCommand({ organisation, unit: 'Main', token }, now));
    expect(letter).toMatchObject({
      type: 'BootstrapOrganisation',
      reason: expect.stringContaining('not signed'),
    });
    await isRefused(token);
    expect(await rig.identityDocuments()).toEqual(before);
  },
  60_000,
);

test('a forged command in the name of an administrator grants nothing, also when it is sent again', async () => {
  const { data: units } = (await rig.call<{ data: { id: string }[] }>('GET', '/org-units')).body;
  const { data: tokens } = (await rig.call<{ data: { id: string }[] }>('GET', '/settings/tokens')).body;
  const token = secretFrom('lsp_', randomBytes(32));
  const { organisation_id } = bootstrapCommand({ organisation: 'Example', unit: 'Main', token }, now)
    .payload as { organisation_id: string };
  const token_id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
  const letter = await writeForged(
    outgoing(records.createToken, {
      key: organisation_id,
      payload: {
        organisation_id,
        token_id,
        name: 'Forged',
        token_hash: secretHashOf(token),
        last_four: token.slice(-4),
        role: 'admin',
        ou_ids: units.map(({ id }) => id),
        expires_at: null,
        rate_limit: null,
        created_by: tokens[0]?.id ?? '',
        requested_at: now,
      },
      headers: { id: token_id, actor: 'token:forged' },
    }),
  );
  expect(letter).toMatchObject({ type: 'CreateToken', reason: expect.stringContaining('not signed') });
  await isRefused(token);
  await retryDeadLetters(rig.log, 'gateway', { ids: [letter.id] });
  await eventually('it is parked again', async () =>
    (await deadLetters()).some(({ type, attempts }) => type === 'CreateToken' && attempts === 2),
  );
  await isRefused(token);
}, 60_000);

test('commands of a gateway work, whichever gateway decides on them', async () => {
  for (const gateway of [0, 1]) {
    const made = await rig.call<{ token: string }>('POST', '/settings/tokens', {
      gateway,
      body: { name: `Of gateway ${String(gateway)}`, role: 'viewer' },
    });
    expect(made.status).toBe(201);
  }
});
