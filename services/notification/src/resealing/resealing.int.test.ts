// The secrets of channels during a change of SEALING_SECRET, on real servers: usable under both keys, and resealed by command until
// none needs the previous key.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openServicePartition } from '@lead-scoring/capability';
import { nameBasedId, records, signingContext, type NotificationPayload } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import { createSealing } from '@lead-scoring/service';
import { startWebhookReceiver, type WebhookReceiver } from '@lead-scoring/testing/receivers';
import { createConfigurationReader } from '../configuration/reader.js';
import { countsOf } from './reseal-model.js';
import { anotherOu, channelId, createChannel, ouId } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

const [previous, current] = [
  'a secret of tests that is long enough',
  'the secret that comes after it, as long',
];
const old = createSealing(previous);
const afterwards = createSealing(current);
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let rig: Rig;
let receiver: WebhookReceiver<NotificationPayload>;

beforeAll(async () => {
  receiver = await startWebhookReceiver({ secrets: [secret] });
  rig = await startRig({ targets: [receiver.target], secrets: { current, previous } });
}, 120_000);

afterAll(async () => {
  await rig.stop();
  await receiver.stop();
}, 60_000);

/** A channel as a gateway with the previous key asks for it. */
function create(nth: number, ou: string, signing: Partial<records.CreateChannel>): OutgoingRecord {
  const config = {
    url: { sealed: old.seal(receiver.url, channelId(nth)), origin: receiver.url, last_four: '' },
    auth_header: { sealed: old.seal('Bearer 1234', channelId(nth)), last_four: '' },
  };
  const { payload } = createChannel(nth, { destination: { type: 'webhook', config }, ...signing });
  return outgoing(records.createChannel, { key: ou, payload: { ...payload, ou_id: ou } });
}

const tell = async (nth: number, ou: string, name: string): Promise<void> => {
  const payload = {
    ou_id: ou,
    channel_id: channelId(nth),
    notification_id: nameBasedId(ou, name),
    requested_at: new Date().toISOString(),
  };
  const reply = await rig.request(outgoing(records.testChannel, { key: channelId(nth), payload }));
  expect(reply).toMatchObject({ outcome: 'done', result: { ok: true } });
  expect(receiver.received.at(-1)?.headers).toMatchObject({ authorization: 'Bearer 1234' });
};

/** What the partitions answer together. */
async function reseal(maximum: number) {
  const payload = { maximum_channels: maximum, requested_at: new Date().toISOString() };
  const sum = { channels: 0, current: 0, superseded: 0, unreadable: 0 };
  for (let partition = 0; partition < rig.partitions; partition += 1) {
    const reply = await rig.request(
      outgoing(records.resealSecrets, { key: String(partition), partition, payload }),
    );
    if (reply.outcome !== 'done') throw new Error(reply.message);
    const { key_id, channels, secrets } = records.resealResult.parse(reply.result);
    expect(key_id).toBe(afterwards.keyId);
    sum.channels += channels;
    sum.current += secrets.current;
    sum.superseded += secrets.superseded;
    sum.unreadable += secrets.unreadable;
  }
  return sum;
}

const channelsOf = async (ou: string) => [
  ...((await createConfigurationReader(rig.readModel).load([ou])).get(ou)?.channels.values() ?? []),
];

test('secrets under the previous key work, are resealed, and then work without that key', async () => {
  const stored = { signing_secret: old.seal(secret, signingContext(channelId(1))) };
  await rig.request(create(1, ouId, stored));
  // Of a version that stored no signing secret.
  await rig.request(create(2, anotherOu, {}));
  await rig.request(create(3, ouId, { signing_secret: old.seal(secret, signingContext(channelId(3))) }));
  receiver.trust(old.signingSecret(channelId(2)));
  await tell(1, ouId, 'before');
  await tell(2, anotherOu, 'before');

  expect(await reseal(0)).toEqual({ channels: 0, current: 0, superseded: 9, unreadable: 0 });
  // One channel of each partition at a time, wherever the two OUs are.
  let channels = 0;
  for (let nth = 0; nth < 3; nth += 1) channels += (await reseal(1)).channels;
  expect(channels).toBe(3);
  expect(await reseal(100)).toEqual({ channels: 0, current: 9, superseded: 0, unreadable: 0 });

  await tell(1, ouId, 'after');
  await tell(2, anotherOu, 'after');
  for (const channel of [...(await channelsOf(ouId)), ...(await channelsOf(anotherOu))]) {
    expect(countsOf(channel, afterwards)).toEqual({ current: 3, superseded: 0, unreadable: 0 });
    expect(countsOf(channel, old)).toEqual({ current: 0, superseded: 0, unreadable: 3 });
  }
}, 60_000);

test.each(['before', 'after'])(
  'a step sees a channel whose command comes %s it in the same batch',
  async (place) => {
    const unused = rig.partitions;
    const partition = openServicePartition(rig.service, rig.readModel, unused);
    const incoming = ({ declaration, key, payload }: OutgoingRecord, index: number): IncomingRecord => {
      const { type, topic } = declaration;
      const headers = { type, id: nameBasedId(ouId, String(index)), time: new Date().toISOString() };
      return { type, topic, partition: unused, offset: BigInt(index), key, payload, headers };
    };
    const step = outgoing(records.resealSecrets, {
      key: String(unused),
      payload: { maximum_channels: 10, requested_at: new Date().toISOString() },
    });
    const command = create(9, nameBasedId(ouId, place), {
      signing_secret: old.seal(secret, signingContext(channelId(9))),
    });
    const batch = place === 'before' ? [command, step] : [step, command];
    const { events } = await partition.decide(batch.map(incoming));
    expect(events.map(({ declaration: { type } }) => type)).toEqual(['ChannelCreated', 'ChannelResealed']);
    // Nothing of that batch was committed: another one does not see it.
    expect((await partition.decide([step].map(incoming))).events).toEqual([]);
    await partition.close?.();
  },
);

test('a rebuild without the previous key gives the same documents', async () => {
  const before = await rig.documents();
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
}, 60_000);
