// A registry, or a proxy before it, that refuses once: no record is parked and no schema is cached as missing.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { internals, type EventLog } from './event-log.js';
import { createRegistryClient } from './registry-client.js';
import { createSchemaStore, subjectOf } from './schemas.js';
import { createRuleset, removeNamespace, testLog } from './testing/test-support.js';

let log: EventLog;
let id: number;
/** Replaces the registry's next answer to a schema request. */
let refusal: { status: number; body: string } | undefined;

const proxy = createServer((req, res) => {
  void (async () => {
    if (refusal && req.url?.startsWith('/schemas/ids/')) {
      const { status, body } = refusal;
      refusal = undefined;
      res.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return;
    }
    const answer = await fetch(`${log.config.schemaRegistryUrl}${req.url ?? ''}`);
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  })();
});

beforeAll(async () => {
  log = testLog();
  await log.prepare();
  const { declaration } = createRuleset();
  const subject = subjectOf(log.config.namespace, declaration);
  const schema = {
    ...z.toJSONSchema(declaration.schema, { target: 'draft-7' }),
    description: 'another version',
  };
  const response = await fetch(
    `${log.config.schemaRegistryUrl}/subjects/${encodeURIComponent(subject)}/versions`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schemaType: 'JSON', schema: JSON.stringify(schema) }),
    },
  );
  ({ id } = (await response.json()) as { id: number });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
}, 60_000);

afterAll(async () => {
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  await removeNamespace(log);
}, 30_000);

const store = () =>
  createSchemaStore({
    registry: createRegistryClient({
      url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      clientId: 'test',
      access: {},
    }),
    namespace: log.config.namespace,
  });

test.each([
  [401, '{"error_code":40101,"message":"Unauthorized"}'],
  [404, '<html>no such page</html>'],
  [429, '{}'],
])('%i for a schema that is there passes, and the schema is found afterwards', async (status, body) => {
  const schemas = store();
  const { declaration } = createRuleset();
  refusal = { status, body };
  await expect(schemas.load(id)).rejects.toMatchObject({
    code: 'log_unavailable',
    retriable: true,
    isAccessRefused: status === 401,
  });
  expect(schemas.known(id)).toBe(false);
  await schemas.load(id);
  expect(schemas.find(declaration, id)).toMatchObject({ id });
});

test('a schema that the registry does not have is requested again, so that a later registration is found', async () => {
  const schemas = store();
  refusal = { status: 404, body: '{"error_code":40403,"message":"Schema not found"}' };
  await schemas.load(id);
  expect(schemas.known(id)).toBe(false);
  await schemas.load(id);
  expect(schemas.known(id)).toBe(true);
  expect(log[internals].schemas.known(2_147_483_647)).toBe(false);
});
