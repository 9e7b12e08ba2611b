// Writes the JSON Schema of every declared record to schemas/<topic>/<Type>.json. Run it after a compatible change
// (`npm run build && npm run refresh-schemas`): the unit test compares the next change with these files.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { incompatibilities, jsonSchemaOf, recordDeclarations } from '../dist/index.js';

const root = join(import.meta.dirname, '../schemas');
const force = process.argv.includes('--force');
let broken = 0;
for (const record of recordDeclarations) {
  const file = join(root, record.topic, `${record.type}.json`);
  const schema = jsonSchemaOf(record);
  const before = await readFile(file, 'utf8').catch(() => null);
  const reasons = before === null ? [] : incompatibilities(JSON.parse(before), schema);
  if (reasons.length > 0 && !force) {
    broken += 1;
    console.error(`${record.topic} ${record.type} cannot be read as before:\n  ${reasons.join('\n  ')}`);
    continue;
  }
  await mkdir(join(root, record.topic), { recursive: true });
  await writeFile(file, `${JSON.stringify(schema, null, 2)}\n`);
}
if (force)
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true }))
    if (
      entry.isFile() &&
      !recordDeclarations.some(
        (record) => entry.parentPath.endsWith(record.topic) && entry.name === `${record.type}.json`,
      )
    )
      await rm(join(entry.parentPath, entry.name));
if (broken > 0) {
  console.error(
    'Make new fields optional and keep the old ones, or declare a new record type. --force writes all the same.',
  );
  process.exitCode = 1;
}
