// The commands that `lead-scoring acls` prints, and the consumer rights in docker-compose.yml.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { consumerAcls, publicTopics } from '@lead-scoring/contracts';
import { commandsOf } from './acls-command.js';

test('one command for each resource, quoted for a shell', () => {
  const lines = commandsOf(consumerAcls('live', "o'brien", 'crm'))
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(publicTopics('live').length + 1);
  expect(lines[0]).toBe(
    `kafka-acls.sh --bootstrap-server "$KAFKA_BROKERS" --add --allow-principal 'User:o'\\''brien' --topic 'live.ingest.events' --resource-pattern-type literal --operation Read`,
  );
});

test('the topics that docker-compose.yml lets consumers read are exactly the public ones', async () => {
  const file = await readFile(join(import.meta.dirname, '../../../docker-compose.yml'), 'utf8');
  const named = [...file.matchAll(/^# {3}(lead-scoring\.[a-z-]+\.[a-z-]+)$/gm)].map(([, topic]) => topic);
  expect(named).toEqual(publicTopics('lead-scoring'));
});
