// Writes records to topics byte by byte, without the event log's checks, as any client with write access could.
import {
  jsonSchemaOf,
  recordDeclarations,
  type JsonSchema,
  type RecordDeclaration,
  type TopicName,
} from '@lead-scoring/contracts';
import { Kafka, logLevel, type IHeaders } from 'kafkajs';
import type { TestSystem } from './test-system.js';

export interface RawMessage {
  partition: number;
  key?: Buffer | string | null;
  value: Buffer | string | null;
  headers?: IHeaders;
}

export interface RawWriter {
  /** Writes messages; resolves with the offset of each. */
  write(topic: TopicName, messages: readonly RawMessage[]): Promise<number[]>;
  stop(): Promise<void>;
}

export async function startRawWriter({
  endpoints,
  namespace,
}: Pick<TestSystem, 'endpoints' | 'namespace'>): Promise<RawWriter> {
  const kafka = new Kafka({ brokers: endpoints.kafkaBrokers, logLevel: logLevel.NOTHING, clientId: 'raw' });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  return {
    async write(topic, messages) {
      const written = await producer.send({ topic: `${namespace}.${topic}`, messages: [...messages] });
      const next = new Map(written.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]));
      return messages.map(({ partition }) => {
        const offset = next.get(partition) ?? NaN;
        next.set(partition, offset + 1);
        return offset;
      });
    },
    stop: () => producer.disconnect(),
  };
}

/** A payload in the registry's wire format. */
export function inWireFormat(schemaId: number, json: string | Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeInt32BE(schemaId, 1);
  return Buffer.concat([prefix, Buffer.from(json)]);
}

/** The schema ids that a running system has registered, one for each declared record type. */
export async function registeredSchemaIds({
  endpoints,
  namespace,
}: Pick<TestSystem, 'endpoints' | 'namespace'>): Promise<Map<RecordDeclaration, number>> {
  const idOf = async (declaration: RecordDeclaration) => {
    const subject = `${namespace}.${declaration.topic}-${declaration.type}`;
    const found = await fetch(`${endpoints.schemaRegistryUrl}/subjects/${subject}/versions/latest`);
    const { id } = (await found.json()) as { id: number };
    return [declaration, id] as const;
  };
  return new Map(await Promise.all(recordDeclarations.map(idOf)));
}

/** The smallest payload that fits the schema of a record; every id in it is the given one. */
export function leastPayload(declaration: RecordDeclaration, id: string): unknown {
  const schema = jsonSchemaOf(declaration);
  return leastOf(schema, id, (schema.definitions ?? {}) as Definitions);
}

type Definitions = Record<string, JsonSchema>;

function leastOf(schema: JsonSchema, id: string, definitions: Definitions): unknown {
  if (typeof schema.$ref === 'string')
    return leastOf(definitions[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}, id, definitions);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0] as unknown;
  // A reference with a description is a list of one that all hold.
  const [choice] = (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []) as JsonSchema[];
  if (choice) return leastOf(choice, id, definitions);
  switch (Array.isArray(schema.type) ? (schema.type[0] as unknown) : schema.type) {
    case 'object': {
      const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
      const required = (schema.required ?? []) as string[];
      return Object.fromEntries(
        required.map((name) => [name, leastOf(properties[name] ?? {}, id, definitions)]),
      );
    }
    case 'array': {
      const item = schema.items as JsonSchema;
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => leastOf(item, id, definitions));
    }
    case 'integer':
    case 'number':
      return Math.max(Number(schema.minimum ?? 0), Math.min(0, Number(schema.maximum ?? 0)));
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return leastText(schema, id);
    default:
      return {};
  }
}

const texts = [
  '2026-01-31T09:30:00.000Z',
  'text',
  'text@example.com',
  '#e8590c',
  'a'.repeat(64),
  'https://example.com',
];

function leastText(schema: JsonSchema, id: string): string {
  const { format, pattern, minLength = 0, maxLength = Infinity } = schema;
  const fits = (text: string) =>
    text.length >= Number(minLength) &&
    text.length <= Number(maxLength) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text));
  const wanted = format === 'uuid' ? [id] : format === 'date-time' ? texts : ['text', ...texts];
  const found = wanted.find(fits);
  if (found === undefined) throw new Error(`no text fits ${JSON.stringify(schema)}: add one`);
  return found;
}
