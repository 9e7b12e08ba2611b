// Writes the public records of a release to released-schemas.json, with which every later change is compared: consumers rely on them
// (docs/consumers.md). Run it as a part of a release: `npm run build && npm run release-schemas`. A promise that is broken is refused;
// --force is for a new major version.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brokenPromises, publicRecords } from '../dist/index.js';

const file = join(import.meta.dirname, '../released-schemas.json');
const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../package.json'), 'utf8'));
const released = await readFile(file, 'utf8').then(JSON.parse, () => ({ records: {} }));
const records = publicRecords();
const broken = brokenPromises(released.records, records);
if (broken.length > 0 && !process.argv.includes('--force')) {
  console.error(`Consumers of ${released.version} could not read this:\n  ${broken.join('\n  ')}`);
  console.error(
    'Declare a new record type beside the old one. --force writes all the same, for a new major version.',
  );
  process.exitCode = 1;
} else {
  // A line for each record, so that a diff shows what has changed.
  const lines = Object.entries(records).map(
    ([name, record]) => `    ${JSON.stringify(name)}: ${JSON.stringify(record)}`,
  );
  await writeFile(
    file,
    `{\n  "version": ${JSON.stringify(version)},\n  "records": {\n${lines.join(',\n')}\n  }\n}\n`,
  );
}
