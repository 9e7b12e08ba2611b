// Measures concurrent reads and writes of several partition states of a process: one coalesced call for all against one call for
// each, on the server in MONGODB_URI, with the variants interleaved.
// Usage: npm run build && MONGODB_URI=... node packages/read-model/scripts/measure-coalescing.mjs [rounds] [callers,...] [kind]
import { randomBytes, randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { pino } from 'pino';
import {
  connectReadModel,
  createCheckpoints,
  createGuardedWriter,
  defineCollection,
  ensureCollections,
  findByIds,
  insertMissing,
  uuidToBinary,
} from '../dist/index.js';

const rounds = Number(process.argv[2] ?? 15);
const callerCounts = (process.argv[3] ?? '1,6,48').split(',').map(Number);
const documentsEach = 20;
const readModel = await connectReadModel(
  {
    uri: process.env.MONGODB_URI,
    database: `measure-${randomBytes(4).toString('hex')}_leads`,
    timeoutMs: 60_000,
  },
  { logger: pino({ level: 'silent' }) },
);
/** Each call of it makes a collection of its own: nothing is coalesced. */
const separate = { ...readModel, collection: ({ name }) => readModel.db.collection(name) };
const leads = defineCollection({
  name: 'leads',
  indexes: [{ key: { ou: 1, score: -1, _id: 1 } }, { key: { ou: 1, last_activity_at: -1 } }],
});
const facts = defineCollection({ name: 'facts', indexes: [] });
await ensureCollections(readModel, [leads, facts]);
const ou = uuidToBinary(randomUUID());
const newId = () => uuidToBinary(randomUUID());
const known = Array.from({ length: 20_000 }, (_, index) => lead(newId(), 0, index));
function lead(_id, offset, seed) {
  return {
    _id,
    partition: seed % 48,
    offset,
    ou,
    name: `Person ${seed}`,
    fields: { company: 'Example Company', title: 'Head of Purchasing', owner: 'sales@example.com' },
    score: (seed * 7 + offset) % 500,
    last_activity_at: new Date(1_700_000_000_000 + seed + offset * 1_000),
  };
}
const everythingNew = { isNew: () => true };
await createGuardedWriter(readModel).write(readModel.collection(leads), known, everythingNew);

let offset = 0;
const some = (caller) => {
  const from = (Math.floor(Math.random() * 16) * 48 + caller) * documentsEach;
  return known.slice(from, from + documentsEach);
};
const news = () => Array.from({ length: documentsEach }, (_, index) => lead(newId(), 1, index));
const changed = (caller) => some(caller).map(({ _id }, index) => lead(_id, offset, index));
const owners = new Map();
const checkpointsOf = (model, caller) => {
  const name = `${model === separate ? 'separate' : 'coalesced'}-${caller}`;
  if (!owners.has(name)) owners.set(name, createCheckpoints(model));
  return owners.get(name).store(name, caller, { offset: BigInt(offset), positions: {} });
};
const find = (model, caller) =>
  findByIds(
    model.collection(leads),
    some(caller).map(({ _id }) => _id),
  );
const replace = (model, caller) => createGuardedWriter(model).write(model.collection(leads), changed(caller));
const insertFacts = (model) => insertMissing(model.collection(facts), news());
const kinds = {
  'look up': find,
  'replace, guarded': replace,
  'insert, guarded': (model) =>
    createGuardedWriter(model).write(model.collection(leads), news(), everythingNew),
  'insert what is missing': insertFacts,
  'store checkpoints': checkpointsOf,
  'a fold: all but the guarded insert, one after the other': async (model, caller) => {
    await find(model, caller);
    await insertFacts(model);
    await replace(model, caller);
    await checkpointsOf(model, caller);
  },
};
/** Milliseconds of processor time that the whole machine has spent: the servers' too, where they are on it and nothing else is. */
const machineMs = () =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
async function measured(model, run, callers) {
  offset += 1;
  const before = process.cpuUsage();
  const machineBefore = machineMs();
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(model, caller)));
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { elapsed, client: (user + system) / 1_000, machine: machineMs() - machineBefore };
}
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const ratio = (pairs, field) =>
  (sum(pairs.map(([one]) => one[field])) / sum(pairs.map(([, other]) => other[field]))).toFixed(2);
console.log(
  `${readModel.engine}, ${documentsEach} documents a caller, ${rounds} rounds, separate / coalesced`,
);
for (const callers of callerCounts)
  for (const [name, run] of Object.entries(kinds).filter(([name]) =>
    name.startsWith(process.argv[4] ?? ''),
  )) {
    const pairs = [];
    for (let round = -2; round < rounds; round += 1) {
      const pair = [await measured(separate, run, callers), await measured(readModel, run, callers)];
      if (round >= 0) pairs.push(pair);
    }
    const elapsed = (index) => median(pairs.map((pair) => pair[index].elapsed));
    console.log(
      `${String(callers).padStart(2)} callers  ${name.padEnd(58)}`,
      `elapsed ${elapsed(0).toFixed(1)} / ${elapsed(1).toFixed(1)} ms = ${(elapsed(0) / elapsed(1)).toFixed(2)}`,
      ` processor time of the client ${ratio(pairs, 'client')}, of the machine ${ratio(pairs, 'machine')}`,
    );
  }
await readModel.db.dropDatabase();
await readModel.close();
