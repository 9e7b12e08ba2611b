// Follows the engagement score of every lead. It knows the AsyncAPI document, the brokers and the schema registry, and nothing else of the
// system. Each change is a line of JSON on standard output: {"type", "lead_id", "score"}; a lead that is gone has the score null.
//
//   npm install kafkajs @kafkajs/confluent-schema-registry
//   API_URL=… KAFKA_BROKERS=… SCHEMA_REGISTRY_URL=… GROUP_ID=crm.scores node scores.mjs
import process from 'node:process';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { Kafka, logLevel } from 'kafkajs';

const { API_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL, GROUP_ID = 'crm.scores' } = process.env;

const document = await (await fetch(`${API_URL}/asyncapi.json`)).json();
const topic = document.channels['scoring.events'].address;
// The schemas have formats and examples, which the client's validator refuses without these options.
const registry = new SchemaRegistry(
  { host: SCHEMA_REGISTRY_URL },
  { [SchemaType.JSON]: { strict: false, validateFormats: false } },
);

/** What a record says of a lead's engagement score; undefined for a record that says nothing of it. */
function changeOf(type, payload) {
  const { lead_id, score, score_type } = payload;
  if (type === 'LeadScored') return { type, lead_id, score };
  if (type === 'ScoreAdjusted' && score_type === 'engagement') return { type, lead_id, score };
  if (type === 'LeadRemoved') return { type, lead_id, score: null };
}

const kafka = new Kafka({ clientId: 'scores', brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.ERROR });
// kafkajs reads committed records only, unless readUncommitted says otherwise.
const consumer = kafka.consumer({ groupId: GROUP_ID });
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    const type = message.headers.type.toString();
    // A topic has types that a program does not need, and later ones that it does not know.
    if (!['LeadScored', 'ScoreAdjusted', 'LeadRemoved'].includes(type)) return;
    const change = changeOf(type, await registry.decode(message.value));
    if (change) process.stdout.write(`${JSON.stringify(change)}\n`);
  },
});

const stop = () => consumer.disconnect().then(() => process.exit());
process.once('SIGINT', stop).once('SIGTERM', stop);
