// Baseline: the simplest handler. express reads the body, kafkajs writes one record per event, with acks=all.
// No authentication, no validation, no identity.
import { encodePosition } from '@lead-scoring/contracts';
import express from 'express';
import { Kafka, logLevel } from 'kafkajs';
import { baselineSettings, type SentEvent } from './settings.js';

const { port, brokers, topic } = baselineSettings(process.env);
const producer = new Kafka({ brokers, clientId: 'baseline', logLevel: logLevel.ERROR }).producer();
await producer.connect();

const app = express();
app.get('/healthz', (_req, res) => {
  res.json({ status: 'ok' });
});
app.post('/ingest', express.json({ limit: '10mb' }), async (req, res) => {
  const events = req.body as SentEvent[];
  const acknowledged = await producer.send({
    topic,
    acks: -1,
    messages: events.map((event) => ({ key: event.alias, value: JSON.stringify(event) })),
  });
  // The offset of each partition's first record: enough to know when a single event has been consumed.
  const position = new Map(
    acknowledged.map(({ partition, baseOffset }) => [partition, BigInt(baseOffset ?? 0)]),
  );
  res.status(202).json({ accepted: events.length, position: encodePosition(position) });
});
const server = app.listen(port, '127.0.0.1');

process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void producer.disconnect();
});
