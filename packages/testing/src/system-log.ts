// The event log of a running test system, for tests that ask for a rebuild or look at how far a service has come.
import { createEventLog, type EventLog } from '@lead-scoring/event-log';
import { pino } from 'pino';
import type { TestSystem } from './test-system.js';

/** To be prepared before it is written to, and closed by whoever opened it. */
export function openSystemLog({
  endpoints,
  namespace,
}: Pick<TestSystem, 'endpoints' | 'namespace'>): EventLog {
  return createEventLog(
    {
      brokers: endpoints.kafkaBrokers,
      schemaRegistryUrl: endpoints.schemaRegistryUrl,
      namespace,
      clientId: 'rebuild',
      partitions: 6,
    },
    { logger: pino({ level: 'silent' }) },
  );
}
