// Looks for a text in everything that a system keeps: each record of each topic, and each document of each database.
import { topics } from '@lead-scoring/contracts';
import { tail } from '@lead-scoring/event-log';
import { MongoClient } from 'mongodb';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

type System = Pick<TestSystem, 'endpoints' | 'namespace'>;

/** The topics and collections with this text in a key, a value or a header, or in the bytes of a document. */
export async function placesWith(system: System, text: string): Promise<string[]> {
  return [...(await topicsWith(system, text)), ...(await collectionsWith(system, text))].sort();
}

async function topicsWith(system: System, text: string): Promise<string[]> {
  const log = openSystemLog(system);
  const found = new Set<string>();
  try {
    await log.prepareSchemas();
    for (const { name } of topics)
      for await (const { key, payload, headers, error } of tail(log, name, {
        from: 'beginning',
        follow: false,
      }))
        if (JSON.stringify([key, payload, headers, error]).includes(text)) found.add(name);
    return [...found];
  } finally {
    await log.close();
  }
}

async function collectionsWith({ endpoints, namespace }: System, text: string): Promise<string[]> {
  const client = await MongoClient.connect(endpoints.mongodbUri);
  const found = new Set<string>();
  try {
    const { databases } = await client.db().admin().listDatabases();
    for (const { name } of databases.filter((one) => one.name.startsWith(`${namespace}_`)))
      for (const collection of await client.db(name).collections())
        for await (const document of collection.find({}, { raw: true }))
          if (Buffer.from(document as unknown as Uint8Array).includes(text))
            found.add(`${name.slice(namespace.length + 1)}/${collection.collectionName}`);
    return [...found];
  } finally {
    await client.close();
  }
}
