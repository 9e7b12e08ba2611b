// Measures the strategies for guarded writes on the server in MONGODB_URI, with the variants interleaved.
// Usage: npm run build && MONGODB_URI=... node packages/read-model/scripts/measure-writes.mjs [documents] [rounds]
import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { pino } from 'pino';
import {
  connectReadModel,
  createGuardedWriter,
  defineCollection,
  ensureCollections,
  replaceEach,
  replaceSet,
  uuidToBinary,
} from '../dist/index.js';

const count = Number(process.argv[2] ?? 2_000);
const rounds = Number(process.argv[3] ?? 7);
const logger = pino({ level: 'silent' });
const readModel = await connectReadModel(
  {
    uri: process.env.MONGODB_URI,
    database: `measure-${randomBytes(4).toString('hex')}_leads`,
    timeoutMs: 60_000,
  },
  { logger },
);
const declaration = defineCollection({
  name: 'leads',
  indexes: [{ key: { ou: 1, score: -1, _id: 1 } }, { key: { ou: 1, last_activity_at: -1 } }],
});
await ensureCollections(readModel, [declaration]);
const leads = readModel.collection(declaration);
const ou = uuidToBinary(randomUUID());

const known = Array.from(
  { length: 20_000 },
  (_, index) => uuidToBinary(randomUUID()) && lead(uuidToBinary(randomUUID()), 0, index),
);
function lead(_id, offset, seed) {
  return {
    _id,
    partition: seed % 6,
    offset,
    ou,
    name: `Person ${seed}`,
    fields: { company: 'Example Company', title: 'Head of Purchasing', owner: 'sales@example.com' },
    aliases: [{ alias_kind: 'email', alias: `person.${seed}@example.com` }],
    score: (seed * 7 + offset) % 500,
    rulesets: [{ ruleset_id: ou, score: (seed * 7 + offset) % 500 }],
    event_count: offset,
    first_activity_at: new Date(1_700_000_000_000 + seed),
    last_activity_at: new Date(1_700_000_000_000 + seed + offset * 1_000),
    search: `person ${seed} example company person.${seed}@example.com`,
  };
}
const everythingNew = { isNew: () => true };
await createGuardedWriter(readModel).write(leads, known, everythingNew);

let offset = 0;
const some = () => {
  offset += 1;
  const from = Math.floor(Math.random() * (known.length - count));
  return known.slice(from, from + count).map(({ _id }, index) => lead(_id, offset, from + index));
};
const withChunk = (strategy, chunk) => ({ ...strategy, chunk });
const update = (strategy) => () => createGuardedWriter(readModel, strategy).write(leads, some());
const contenders = {
  ...Object.fromEntries(
    [100, 500, 1_000].map((chunk) => [`replace-each ${chunk}`, update(withChunk(replaceEach, chunk))]),
  ),
  ...Object.fromEntries(
    [25, 50, 100, 200, 400].map((chunk) => [`replace-set ${chunk}`, update(withChunk(replaceSet, chunk))]),
  ),
  'insert known new': () =>
    createGuardedWriter(readModel).write(
      leads,
      Array.from({ length: count }, (_, index) => lead(uuidToBinary(randomUUID()), 1, index)),
      everythingNew,
    ),
  'insert taken for present': () =>
    createGuardedWriter(readModel).write(
      leads,
      Array.from({ length: count }, (_, index) => lead(uuidToBinary(randomUUID()), 1, index)),
    ),
};
const figures = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
for (let round = 0; round < rounds + 1; round += 1)
  for (const [name, run] of Object.entries(contenders)) {
    const start = performance.now();
    await run();
    if (round > 0) figures[name].push((count / (performance.now() - start)) * 1_000);
  }
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const base = median(figures['replace-each 1000']);
console.log(`${readModel.engine}, ${count} documents a call, ${rounds} rounds`);
for (const [name, numbers] of Object.entries(figures))
  console.log(
    `${name.padEnd(26)} ${Math.round(median(numbers)).toString().padStart(8)}/s  ${(median(numbers) / base).toFixed(2)}`,
  );
await readModel.db.dropDatabase();
await readModel.close();
