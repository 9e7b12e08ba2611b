// The event log of a running test system, for tests that request a rebuild or read a service's lag.
import { createEventLog, type EventLog } from '@lead-scoring/event-log';
import { pino } from 'pino';
import type { TestSystem } from './test-system.js';

/** The caller prepares the log before writing to it, and closes it. */
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
