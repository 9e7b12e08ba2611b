// `backup --with-secrets`: the secrets come into a file of their own, outside of the backup, that only its owner may read.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { saveSecrets } from './saved-secrets.js';
import { settingsOf } from './settings.js';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saved-secrets-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const folder = () => join(directory, 'backup');
const settings = (environment: NodeJS.ProcessEnv) => settingsOf({}, environment, { directory: '/' });

test('those of the environment, as lines for .env', async () => {
  const file = join(directory, 'one.env');
  await saveSecrets(file, folder(), settings({ TOKEN_SECRET: 't', SEALING_SECRET: 's', HOME: '/' }));
  expect(await readFile(file, 'utf8')).toBe('TOKEN_SECRET=t\nSEALING_SECRET=s\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expect(saveSecrets(file, folder(), settings({ TOKEN_SECRET: 't' }))).rejects.toThrow(
    'exists already',
  );
});

test('else secrets.json of `npm start`, as it is', async () => {
  await writeFile(join(directory, 'start.json'), '{"api_url":"http://127.0.0.1:8080"}');
  await writeFile(join(directory, 'secrets.json'), '{"tokenSecret":"t"}\n');
  const file = join(directory, 'two.json');
  await saveSecrets(file, folder(), settings({ LEAD_SCORING_RUN_DIRECTORY: directory }));
  expect(await readFile(file, 'utf8')).toBe('{"tokenSecret":"t"}\n');
});

test('not into the folder of the backup, and not without secrets', async () => {
  const inside = saveSecrets(join(folder(), 'secrets'), folder(), settings({ TOKEN_SECRET: 't' }));
  await expect(inside).rejects.toThrow('is in the folder of the backup');
  await expect(saveSecrets(join(directory, 'three'), folder(), settings({}))).rejects.toThrow(
    'No secrets are found',
  );
});
