// A killed process holds its place in a consumer group no longer than until it is started again; living processes keep theirs.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { internals, type EventLog } from '../event-log.js';
import { removeNamespace, testLog } from '../testing/test-support.js';
import { newTransactionalId, isOfDeadOwner } from '../processing/transactional-id.js';
import { memberClientId, removeDeadMembers } from './dead-members.js';

let log: EventLog;
let groupId: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  log = testLog({ partitions: 4 });
  await log.prepare();
  groupId = `${log.config.namespace}.scoring`;
}, 60_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await removeNamespace(log);
}, 60_000);

/** A process that is a member of the group, with the client id that a process of the service has. */
async function memberProcess(): Promise<ChildProcess> {
  const { pid } = process;
  const prefix = memberClientId('scoring').slice(0, -String(pid).length);
  const code = `
    const { Kafka } = require(${JSON.stringify(createRequire(import.meta.url).resolve('kafkajs'))});
    const consumer = new Kafka({ brokers: ${JSON.stringify(log.config.brokers)}, clientId: ${JSON.stringify(prefix)} + process.pid, logLevel: 0 })
      .consumer({ groupId: ${JSON.stringify(groupId)}, sessionTimeout: 60000, heartbeatInterval: 1000 });
    consumer.on('consumer.group_join', () => console.log('joined'));
    consumer.connect()
      .then(() => consumer.subscribe({ topic: ${JSON.stringify(log[internals].wire('scoring.commands'))} }))
      .then(() => consumer.run({ eachMessage: async () => {} }));`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  // The output stays open: a member joins again whenever another one comes, and would die of writing to a closed pipe.
  await once(child.stdout.resume(), 'data');
  return child;
}

const processesInGroup = async () => {
  const admin = log[internals].kafka.admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([groupId]);
    return groups.flatMap(({ members }) => members.map(({ clientId }) => Number(clientId.split('-').at(-1))));
  } finally {
    await admin.disconnect();
  }
};

test('members of dead processes are removed, and those of living ones stay', async () => {
  const [living, suspended, dead] = await Promise.all([memberProcess(), memberProcess(), memberProcess()]);
  const all = [living, suspended, dead].map(({ pid }) => pid).sort();
  await eventually('all three are members', async () => {
    const found = await processesInGroup();
    return found.sort().join() === all.join();
  });
  suspended.kill('SIGSTOP');
  const ended = once(dead, 'exit');
  dead.kill('SIGKILL');
  await ended;
  const connection = log[internals].connect();
  await connection.open([log[internals].wire('scoring.commands')]);
  // A member of this name is of another service, or of another machine.
  expect(await removeDeadMembers(connection, { groupId, clientId: 'ingest' })).toEqual([]);
  const removed = await removeDeadMembers(connection, { groupId, clientId: 'scoring' });
  expect(removed).toEqual([expect.stringContaining(`-${String(dead.pid)}-`)]);
  expect((await processesInGroup()).sort()).toEqual([living.pid, suspended.pid].sort());
  expect(await removeDeadMembers(connection, { groupId, clientId: 'scoring' })).toEqual([]);
  connection.close();
}, 120_000);

test('an owner of partitions is dead when its process is, and not while that is unknown', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  children.push(child);
  const id = (pid: number | undefined) =>
    newTransactionalId(groupId).replace(`-${String(process.pid)}.`, `-${String(pid)}.`);
  expect([isOfDeadOwner(id(process.pid)), isOfDeadOwner(id(child.pid))]).toEqual([false, false]);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  expect(isOfDeadOwner(id(child.pid))).toBe(true);
  const [, space = ''] = /\.([^.]*)-\d+\./.exec(id(child.pid)) ?? [];
  expect(isOfDeadOwner(id(child.pid).replace(space, 'ffffffffffff'))).toBe(false);
  expect(isOfDeadOwner(`${groupId}.ff24579f-8e10-4633-931d-f09b569dc3c0`)).toBe(false);
});

test('a group that does not exist has no dead members', async () => {
  const connection = log[internals].connect();
  await connection.open([log[internals].wire('scoring.commands')]);
  expect(await removeDeadMembers(connection, { groupId: `${groupId}.none`, clientId: 'scoring' })).toEqual(
    [],
  );
  connection.close();
}, 60_000);
