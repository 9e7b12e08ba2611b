// The AsyncAPI 3 document of the public topics, for downstream consumers. It is made from the record declarations.
import { auditOf } from '../records/audited.js';
import { recordDeclarations, recordsOf } from '../records/index.js';
import type { RecordDeclaration, TopicDeclaration } from '../records/record.js';
import { topics } from '../records/topics.js';
import { jsonSchemaOf, jsonSchemaOfPayload, type JsonSchema } from './json-schemas.js';
import { webhookDescription, webhookHeaders } from './webhook.js';
import { notificationPayload } from '../vocabulary/webhook.js';

export interface AsyncApiOptions {
  version: string;
  /** The system's namespace: the first part of every topic's name on the wire. */
  namespace: string;
  /** Partitions of every topic. */
  partitions: number;
}

export interface AsyncApiDocument {
  asyncapi: '3.0.0';
  info: { title: string; version: string; description: string; license: { name: string } };
  defaultContentType: 'application/json';
  channels: Record<string, JsonSchema>;
  operations: Record<string, JsonSchema>;
  components: { messages: Record<string, JsonSchema>; messageTraits: Record<string, JsonSchema> };
}

const description = `Topics that consumers may build on. Read them with \`isolation.level=read_committed\`: records are written in transactions, and those of a transaction that was given up must not be seen.

- **Wire format** of a record's value: a zero byte, the schema's id in the schema registry as a big-endian 32-bit integer, then JSON. One subject per record type, named \`<topic>-<type>\`, BACKWARD compatible: a consumer that ignores unknown fields keeps working.
- **Order**: records with the same key are in one partition, in the order in which they were decided. All topics have the same number of partitions, so that a key has the same partition number everywhere.
- **Type**: a topic carries several record types; the header \`type\` tells them apart. Skip types that you do not know.
- **Retention**: event topics are kept for ever; a new consumer can start at offset 0.
- **Audit**: \`x-audit\` of a message says whether its events are in the audit trail (GET /audit), and as which kind of change, or why not. The field \`actor\` says who asked for a change; its \`address\` is the IP address of the client, which no answer but that of GET /audit shows.`;

const headersOfRecords = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', description: "The record's type." },
    id: { type: 'string', description: 'Absent: the record is named by its topic, partition and offset.' },
    time: { type: 'string', format: 'date-time', description: "Absent: the record's Kafka timestamp." },
    ou: { type: 'string', format: 'uuid', description: 'The organizational unit.' },
    actor: { type: 'string', description: 'Who asked for it.' },
    'correlation-id': { type: 'string', description: 'The request that began it.' },
    'causation-id': { type: 'string', description: 'The record that caused it.' },
    traceparent: { type: 'string', description: 'W3C trace context.' },
    positions: {
      type: 'string',
      description:
        "On the last record of a transaction: how far the service had read its inputs. For the service's own use.",
    },
  },
};

/** The document that GET /asyncapi.json answers. */
export function asyncApiDocument(options: AsyncApiOptions): AsyncApiDocument {
  const open = topics.filter((topic) => topic.audience === 'public');
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Lead scoring: public topics',
      version: options.version,
      description,
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      ...Object.fromEntries(open.map((topic) => [topic.name, channelOf(topic, options)])),
      webhook: webhookChannel(),
    },
    operations: {
      ...Object.fromEntries(
        open.map((topic) => [
          `send-${topic.name}`,
          { action: 'send', channel: { $ref: `#/channels/${topic.name}` }, summary: topic.description },
        ]),
      ),
      'send-webhook': {
        action: 'send',
        channel: { $ref: '#/channels/webhook' },
        summary: "A notification is sent to a webhook channel's receiver.",
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      messages: Object.fromEntries(
        open.flatMap((topic) =>
          recordsOf(topic.name).map((record) => [messageNameOf(record), messageOf(record, options)]),
        ),
      ),
      messageTraits: { record: { contentType: 'application/json', headers: headersOfRecords } },
    },
  };
}

/** The AsyncAPI channel for notifications to webhooks: an HTTP POST to the address of the notification channel. */
function webhookChannel(): JsonSchema {
  return {
    address: null,
    description: webhookDescription,
    messages: {
      Notification: {
        name: 'Notification',
        title: 'Notification',
        contentType: 'application/json',
        headers: {
          type: 'object',
          required: webhookHeaders.filter(({ required }) => required).map(({ name }) => name),
          properties: Object.fromEntries(
            webhookHeaders.map(({ name, text }) => [name, { type: 'string', description: text }]),
          ),
        },
        payload: {
          schemaFormat: 'application/schema+json;version=draft-07',
          schema: jsonSchemaOfPayload(notificationPayload),
        },
      },
    },
  };
}

function channelOf(topic: TopicDeclaration, options: AsyncApiOptions): JsonSchema {
  return {
    address: `${options.namespace}.${topic.name}`,
    description: topic.description,
    messages: Object.fromEntries(
      recordsOf(topic.name).map((record) => [
        record.type,
        { $ref: `#/components/messages/${messageNameOf(record)}` },
      ]),
    ),
    bindings: {
      kafka: {
        topic: `${options.namespace}.${topic.name}`,
        partitions: options.partitions,
        topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': topic.retentionMs },
        bindingVersion: '0.5.0',
      },
    },
  };
}

/** The record's type, with the topic in front when several topics have a record of this type. */
function messageNameOf({ type, topic }: RecordDeclaration): string {
  const isOnSeveral = recordDeclarations.some((other) => other.type === type && other.topic !== topic);
  return isOnSeveral ? `${topic}.${type}` : type;
}

/** Whether an event is in the audit trail (GET /audit), as the change of which kind of thing; or why not. */
function auditMark(record: RecordDeclaration): JsonSchema {
  const audit = auditOf(record);
  if (!audit) return {};
  if ('unaudited' in audit) return { 'x-audit': { audited: false, reason: audit.unaudited } };
  const { kind, action } = audit;
  if (action === null)
    return {
      'x-audit': { audited: false, reason: 'It changes how a thing is written down, and not the thing.' },
    };
  return { 'x-audit': { audited: true, kind, action } };
}

function messageOf(record: RecordDeclaration, options: AsyncApiOptions): JsonSchema {
  return {
    name: record.type,
    title: record.type,
    summary: record.description,
    traits: [{ $ref: '#/components/messageTraits/record' }],
    payload: { schemaFormat: 'application/schema+json;version=draft-07', schema: jsonSchemaOf(record) },
    bindings: {
      kafka: {
        key: {
          type: 'string',
          ...(record.key !== 'partition' && { format: 'uuid' }),
          description: `The record's ${record.key}.`,
        },
        schemaIdLocation: 'payload',
        schemaIdPayloadEncoding: '4',
        schemaLookupStrategy: 'TopicRecordIdStrategy',
        bindingVersion: '0.5.0',
      },
    },
    'x-subject': `${options.namespace}.${record.topic}-${record.type}`,
    ...auditMark(record),
  };
}
