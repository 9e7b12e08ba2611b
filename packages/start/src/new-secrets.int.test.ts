// scripts/new-secrets.mjs, as an operator runs it: its output is an .env file.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const script = join(import.meta.dirname, '../scripts/new-secrets.mjs');

test('the output is the lines of an .env file and nothing else, with new secrets each time', async () => {
  const [one, other] = await Promise.all(
    [1, 2].map(async () => (await promisify(execFile)(process.execPath, [script])).stdout),
  );
  expect(one).toMatch(
    /^INTERNAL_SECRET=[\w-]{43}\nTOKEN_SECRET=[\w-]{43}\nSEALING_SECRET=[\w-]{43}\nBOOTSTRAP_TOKEN=lsp_\w+\nMONGODB_PASSWORD=[\w-]{43}\n(KAFKA_\w+_PASSWORD=[\w-]{43}\n){8}$/,
  );
  expect(other).not.toBe(one);
}, 60_000);
