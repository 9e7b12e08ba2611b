// The schemas of a backup's records: found by the ids in the records, and registered where the backup is restored, which may give them
// other ids.
import type { TopicName } from '@lead-scoring/contracts';
import { headerText } from '../codec.js';
import { deadLetterHeaders } from '../dead-letter-record.js';
import { EventLogUnavailable } from '../errors.js';
import type { RawRecord } from '../kafka/record-batch.js';
import { registeredPrefixBytes } from '../registered-json.js';
import type { RegistryClient } from '../registry-client.js';
import { registerSchema, repeated } from '../schema-registration.js';
import { savedTopics, type SavedSchema } from './manifest.js';

/** The id of the schema in a record's first bytes; undefined for a record of another form. */
function schemaIdOf({ value }: Pick<RawRecord, 'value'>): number | undefined {
  if (value === null || value.length < registeredPrefixBytes || value[0] !== 0) return undefined;
  return value.readInt32BE(1);
}

/** Notes the schemas of records. */
export class SchemaIds {
  readonly #subjects = new Map<number, Set<string>>();

  take(topic: TopicName, record: RawRecord): void {
    const id = schemaIdOf(record);
    const type = headerText(record.headers, 'type');
    if (id === undefined || type === undefined || !/^\w{1,100}$/.test(type)) return;
    // A dead letter is a record of another topic.
    const origin = headerText(record.headers, deadLetterHeaders.topic) ?? topic;
    if (!savedTopics.some((one) => one === origin)) return;
    const subjects = this.#subjects.get(id) ?? new Set();
    this.#subjects.set(id, subjects.add(`${origin}-${type}`));
  }

  /** Fetches the schemas, those registered first first. Ids that the registry does not know are of records that no reader can read. */
  async fetch(registry: RegistryClient): Promise<SavedSchema[]> {
    const saved: SavedSchema[] = [];
    for (const [id, subjects] of [...this.#subjects].sort(([one], [other]) => one - other)) {
      const { status, body } = await repeated(() => registry.ask('GET', `/schemas/ids/${id}`));
      const { schema } = (body ?? {}) as { schema?: unknown };
      if (status === 404) continue;
      if (status !== 200 || typeof schema !== 'string')
        throw new EventLogUnavailable(`the schema registry answered ${status} to GET /schemas/ids/${id}`);
      saved.push({ id, schema, subjects: [...subjects].sort() });
    }
    return saved;
  }
}

/** Registers the schemas. @returns the new id by the id in the backup */
export async function registerSaved(
  registry: RegistryClient,
  namespace: string,
  schemas: readonly SavedSchema[],
): Promise<ReadonlyMap<number, number>> {
  const ids = new Map<number, number>();
  for (const { id, schema, subjects } of schemas)
    for (const subject of subjects) {
      const hyphen = subject.lastIndexOf('-');
      const declaration = { topic: subject.slice(0, hyphen) as TopicName, type: subject.slice(hyphen + 1) };
      const name = `${namespace}.${subject}`;
      ids.set(id, await registerSchema(registry, { declaration, subject: name, schema }));
    }
  return ids;
}

/** The record with the id that its schema has now. */
export function withNewId(record: RawRecord, ids: ReadonlyMap<number, number>): RawRecord {
  const id = schemaIdOf(record);
  const newId = id === undefined ? undefined : ids.get(id);
  if (newId === undefined || newId === id || record.value === null) return record;
  const value = Buffer.from(record.value);
  value.writeInt32BE(newId, 1);
  return { ...record, value };
}
