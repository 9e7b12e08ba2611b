// deploy/Dockerfile against `npm start`: a service in a container runs with the same options of Node as in a checkout.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { nodeFlags } from '@lead-scoring/start';

test('a process of an image has the options of Node that npm start gives', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../../deploy/Dockerfile'), 'utf8');
  const flags = /^ENV FLAGS="([^"]*)"/m.exec(dockerfile)?.[1];
  expect(flags?.split(' ')).toEqual(nodeFlags('26.10.0'));
});
