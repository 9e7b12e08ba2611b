// What a start asks of the schema registry once the schemas of its record types are registered, and what it does when the
// catalogue of their ids does not tell the truth any more.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { defineRecord, recordDeclarations } from '@lead-scoring/contracts';
import { z } from 'zod';
import type { EventLog } from './event-log.js';
import { createRegistryClient, type RegistryClient } from './registry-client.js';
import { createSchemaStore, type SchemaStore } from './schemas.js';
import { listSharedSchemas } from './testing/shared-schemas.js';
import { removeNamespace, testLog } from './testing/test-support.js';

let log: EventLog;
let requests: string[] = [];

/** The registry's client, which records the requests and refuses those that `refuses` names. */
function recordingClient(refuses?: RegExp): RegistryClient {
  const url = log.config.schemaRegistryUrl;
  const client = createRegistryClient({ url, clientId: 'test', access: {} });
  return {
    ...client,
    ask: (method, path, body) => {
      const request = `${method} ${decodeURIComponent(path)}`;
      requests.push(request);
      if (refuses?.test(request)) return Promise.resolve({ status: 404, body: undefined });
      return client.ask(method, path, body);
    },
  };
}

async function registered(
  declarations = recordDeclarations,
  registry = recordingClient(),
): Promise<SchemaStore> {
  requests = [];
  const schemas = createSchemaStore({ registry, namespace: log.config.namespace, declarations });
  await schemas.register();
  return schemas;
}

const idsOf = (schemas: SchemaStore): number[] =>
  recordDeclarations.map((declaration) => schemas.own(declaration).id);

beforeAll(async () => {
  log = testLog();
  await registered();
}, 60_000);

afterAll(() => removeNamespace(log), 30_000);

beforeEach(() => {
  requests = [];
});

test('a process finds the ids of all record schemas with two requests', async () => {
  const one = await registered(recordDeclarations, recordingClient(/catalogue/));
  expect(requests.length).toBeGreaterThan(recordDeclarations.length);
  const other = await registered();
  expect(requests).toHaveLength(2);
  expect(idsOf(other)).toEqual(idsOf(one));
  for (const declaration of recordDeclarations)
    expect(other.find(declaration, one.own(declaration).id)).toBe(other.own(declaration));
});

test('a changed schema is registered under the compatibility check, and the other schemas are not asked for', async () => {
  const base = { type: 'Probe', topic: 'scoring.events', key: 'ou_id', description: 'A probe.' } as const;
  const probe = (schema: z.ZodType) => [...recordDeclarations, defineRecord({ ...base, schema })];
  const first = await registered(probe(z.strictObject({ a: z.string() })));
  const changed = probe(z.strictObject({ a: z.string(), b: z.string().optional() }));
  const second = await registered(changed);
  expect(requests.filter((request) => /^POST .*\/versions$/.test(request))).toEqual([
    expect.stringContaining('scoring.events-Probe/versions'),
    expect.stringContaining('catalogue/versions'),
  ]);
  const [declaration] = changed.slice(-1);
  const before = probe(z.strictObject({ a: z.string() })).at(-1);
  expect(second.own(declaration as never).id).not.toBe(first.own(before as never).id);
  await expect(registered(probe(z.strictObject({ a: z.number() })))).rejects.toMatchObject({
    code: 'incompatible_schema',
  });
});

test('a catalogue with ids that the registry does not give is not believed', async () => {
  const ids = idsOf(await registered());
  const subject = encodeURIComponent(`${log.config.namespace}.catalogue`);
  const url = `${log.config.schemaRegistryUrl}/subjects/${subject}/versions`;
  const { schema } = (await (await fetch(`${url}/latest`)).json()) as { schema: string };
  const falsified = schema.replace(/"id":(\d+)/g, (_, id) => `"id":${Number(id) + 1_000_000}`);
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schemaType: 'JSON', schema: falsified }),
  });
  expect(idsOf(await registered())).toEqual(ids);
  expect(requests.length).toBeGreaterThan(ids.length);
  expect(idsOf(await registered())).toEqual(ids);
});

test('with the schemas that tests share, a start in a new namespace registers one schema, the sample', async () => {
  const ids = idsOf(await registered());
  const { schemaRegistryUrl, namespace } = log.config;
  await listSharedSchemas(schemaRegistryUrl, `${namespace}.new`);
  requests = [];
  const schemas = createSchemaStore({ registry: recordingClient(), namespace: `${namespace}.new` });
  await schemas.register();
  expect(requests.filter((request) => /^POST .*\/versions$/.test(request))).toHaveLength(1);
  expect(idsOf(schemas)).toEqual(ids);
});

test('a registry that takes no catalogue is asked for each schema', async () => {
  const ids = idsOf(await registered());
  expect(idsOf(await registered(recordDeclarations, recordingClient(/catalogue/)))).toEqual(ids);
  expect(requests.length).toBeGreaterThan(ids.length);
});
