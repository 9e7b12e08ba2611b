// For this package's tests: a log in its own namespace, and a service whose state is in memory.
import { randomUUID } from 'node:crypto';
import { records as declarations, topics, type TopicName } from '@lead-scoring/contracts';
import { patientMs } from '@lead-scoring/platform/waiting';
import { pino } from 'pino';
import type { Component } from '../component.js';
import type { EventLogConfig } from '../config.js';
import { createEventLog, internals, type EventLog } from '../event-log.js';
import { takingAll } from '../inputs.js';
import type { TailedRecord } from '../tail.js';
import type {
  Checkpoint,
  Decision,
  PartitionState,
  ProcessorOptions,
  ProcessorStatus,
} from '../processor-options.js';
import { createProcessor } from '../processor.js';
import {
  isRecord,
  outgoing,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
} from '../records.js';
import { createRecordWriter, type RecordWriter } from '../writer.js';
import { listSharedSchemas } from './shared-schemas.js';

export const logger = pino({ level: process.env.LOG_LEVEL ?? 'silent' });

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`integration tests need ${name}`);
  return value;
}

/** A log in its own namespace; not prepared yet. Its preparation registers each schema. */
export function testLogOfOwnSchemas(options: Partial<EventLogConfig> = {}): EventLog {
  return createEventLog(
    {
      brokers: required('KAFKA_BROKERS').split(','),
      schemaRegistryUrl: required('SCHEMA_REGISTRY_URL'),
      namespace: `event-log-${randomUUID().slice(0, 8)}`,
      clientId: 'event-log-test',
      partitions: 3,
      ...options,
    },
    { logger },
  );
}

/** A writer that waits for acknowledgements as long as this run's patience makes it. */
export function startWriter(log: EventLog): ReturnType<Component<RecordWriter>['start']> {
  return createRecordWriter(log, { timeoutMs: patientMs(5_000) }).start();
}

/** A log in its own namespace; not prepared yet. Its schemas are those that all tests share. */
export function testLog(options: Partial<EventLogConfig> = {}): EventLog {
  const log = testLogOfOwnSchemas(options);
  return {
    ...log,
    prepare: async () => {
      await listSharedSchemas(log.config.schemaRegistryUrl, log.config.namespace);
      await log.prepare();
    },
  };
}

/** Removes everything of a test's namespace from the servers. */
export async function removeNamespace(log: EventLog): Promise<void> {
  const { kafka, wire } = log[internals];
  const admin = kafka.admin();
  await admin.connect();
  const there = new Set(await admin.listTopics());
  await admin.deleteTopics({
    topics: topics.map(({ name }) => wire(name)).filter((name) => there.has(name)),
  });
  const { groups } = await admin.listGroups();
  const own = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${log.config.namespace}.`));
  if (own.length > 0) await admin.deleteGroups(own).catch(() => undefined);
  await admin.disconnect();
  // Not `permanent`: the registry would then drop every schema that no subject uses, also one that another test is
  // registering at that moment, whose subject could never be registered again.
  const subjects = `${log.config.schemaRegistryUrl}/subjects`;
  const all = (await (await fetch(subjects)).json()) as string[];
  await Promise.all(
    all
      .filter((subject) => subject.startsWith(`${log.config.namespace}.`))
      .map((subject) => fetch(`${subjects}/${encodeURIComponent(subject)}`, { method: 'DELETE' })),
  );
  await log.close();
}

export const ouId = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const at = '2026-01-31T09:30:00.000Z';

/** A command of the scoring service that creates one ruleset; tests control faults by its `name`. */
export function createRuleset(
  options: { id?: string; name?: string; partition?: number; headers?: Record<string, string> } = {},
): OutgoingRecord {
  const id = options.id ?? randomUUID();
  return outgoing(declarations.createRuleset, {
    key: id,
    ...(options.partition === undefined ? {} : { partition: options.partition }),
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    payload: {
      ou_id: ouId,
      ruleset_id: id,
      name: options.name ?? 'A ruleset',
      score_type: 'engagement',
      active: true,
      requested_at: at,
    },
  });
}

const alias = { alias_kind: 'email', alias: 'jane@example.com' } as const;

/** A command whose declaration has `mayWait`; a reply-to header makes it urgent. */
export function ingestEvents(options: { headers?: Record<string, string> } = {}): OutgoingRecord {
  const leadId = randomUUID();
  return outgoing(declarations.ingestEvents, {
    key: leadId,
    partition: 0,
    ...options,
    payload: {
      ou_id: ouId,
      batch_id: randomUUID(),
      source: 'ingest',
      fire_triggers: true,
      received_at: at,
      events: [
        { id: randomUUID(), lead_id: leadId, aliases: [alias], event_type: 'page_view', timestamp: at },
      ],
    },
  });
}

/** A command whose declaration lacks `mayWait`. */
export function linkAlias(): OutgoingRecord {
  const leadId = randomUUID();
  return outgoing(declarations.linkAlias, {
    key: leadId,
    partition: 0,
    payload: { ou_id: ouId, alias, alias_lead_id: leadId, lead_id: randomUUID(), linked_at: at },
  });
}

/** An event whose declaration lacks `mayWait`. */
export function rulesetCreated(): OutgoingRecord {
  const id = randomUUID();
  return outgoing(declarations.rulesetCreated, {
    key: id,
    partition: 0,
    payload: {
      ou_id: ouId,
      ruleset_id: id,
      name: 'A ruleset',
      score_type: 'engagement',
      active: true,
      is_default: false,
      version: 1,
      at,
    },
  });
}

/** An event whose declaration has `mayWait`. */
export function leadScored(): OutgoingRecord {
  const leadId = randomUUID();
  return outgoing(declarations.leadScored, {
    key: leadId,
    partition: 0,
    payload: {
      ou_id: ouId,
      lead_id: leadId,
      previous_score: 0,
      score: 1,
      configuration_version: 1,
      event_count: 1,
      fire_triggers: true,
      aliases: [alias],
      first_activity_at: at,
      last_activity_at: at,
      decided_at: at,
      scored_events: [],
    },
  });
}

/** Another event. */
export function leadDeleted(): OutgoingRecord {
  const leadId = randomUUID();
  return outgoing(declarations.leadDeleted, {
    key: leadId,
    partition: 0,
    payload: {
      ou_id: ouId,
      lead_id: leadId,
      deletion_id: randomUUID(),
      deleted_by: randomUUID(),
      deleted_at: at,
    },
  });
}

/** The stored state of a service: survives its process, as a database does. */
export interface Store {
  /** By ruleset id: the number of folded events, and the offset of the last one. */
  rulesets: Map<string, { count: number; offset: bigint }>;
  checkpoint: Checkpoint;
  folds: number;
  resets: number;
  opened: number;
}

/** The stores of a service, one for each partition. */
export function createStores(): Map<number, Store> {
  return new Map();
}

export function storeOf(stores: Map<number, Store>, partition: number): Store {
  let store = stores.get(partition);
  if (!store) {
    store = {
      rulesets: new Map(),
      checkpoint: { offset: 0n, positions: {} },
      folds: 0,
      resets: 0,
      opened: 0,
    };
    stores.set(partition, store);
  }
  return store;
}

/** Hooks by which a test makes a state fail. */
export interface Faults {
  decide?(records: IncomingRecord[], partition: number): void | Promise<void>;
  fold?(events: FoldedRecord[], partition: number): void | Promise<void>;
  store?(checkpoint: Checkpoint, partition: number): void | Promise<void>;
}

/** The state of a small service: each CreateRuleset becomes one RulesetCreated. */
export function rulesetState(
  stores: Map<number, Store>,
  partition: number,
  faults: Faults = {},
): PartitionState {
  const store = storeOf(stores, partition);
  store.opened++;
  return {
    checkpoint: () =>
      Promise.resolve({ offset: store.checkpoint.offset, positions: { ...store.checkpoint.positions } }),
    async decide(incoming): Promise<Decision> {
      await faults.decide?.(incoming, partition);
      const events = incoming.flatMap((record): OutgoingRecord[] => {
        if (!isRecord(record, declarations.createRuleset)) return [];
        const { ou_id, ruleset_id, name, active, requested_at } = record.payload;
        return [
          outgoing(declarations.rulesetCreated, {
            key: ruleset_id,
            payload: {
              ou_id,
              ruleset_id,
              name,
              score_type: 'engagement',
              active,
              is_default: false,
              version: 1,
              at: requested_at,
            },
            headers: { 'causation-id': record.headers.id },
          }),
        ];
      });
      return {
        events,
        replies: incoming.map((to) => ({ to, reply: { outcome: 'done', result: store.rulesets.size } })),
      };
    },
    async fold(events) {
      await faults.fold?.(events, partition);
      store.folds++;
      for (const event of events) {
        if (!isRecord(event, declarations.rulesetCreated)) continue;
        const { ruleset_id: id } = event.payload;
        const known = store.rulesets.get(id);
        if (known && known.offset >= event.offset) continue;
        store.rulesets.set(id, { count: (known?.count ?? 0) + 1, offset: event.offset });
      }
    },
    async store(checkpoint) {
      await faults.store?.(checkpoint, partition);
      store.checkpoint = checkpoint;
    },
    reset() {
      store.rulesets.clear();
      store.checkpoint = { offset: 0n, positions: {} };
      store.resets++;
      return Promise.resolve();
    },
  };
}

/** The same, but folded state stays in memory until it is stored, and is lost with the session otherwise. */
export function forgetfulState(
  stores: Map<number, Store>,
  partition: number,
  faults: Faults = {},
): PartitionState {
  const stored = storeOf(stores, partition);
  stored.opened++;
  const kept: Store = { ...stored, rulesets: new Map(stored.rulesets) };
  const state = rulesetState(new Map([[partition, kept]]), partition, faults);
  return {
    ...state,
    async store(checkpoint) {
      // Copied now: state folded later must not be stored under this checkpoint.
      const rulesets = new Map(kept.rulesets);
      await faults.store?.(checkpoint, partition);
      stored.rulesets = rulesets;
      stored.checkpoint = checkpoint;
    },
    async reset(touch) {
      await state.reset(touch);
      stored.rulesets = new Map();
      stored.checkpoint = { offset: 0n, positions: {} };
      stored.resets++;
    },
  };
}

/** Starts a processor of the small service. */
export async function startProcessor(
  log: EventLog,
  stores: Map<number, Store>,
  options: Partial<ProcessorOptions> & { faults?: Faults } = {},
): Promise<{ status: ProcessorStatus; fatal: Error[]; stop(): Promise<void> }> {
  const fatal: Error[] = [];
  const { faults, ...others } = options;
  const { value: status, stop } = await createProcessor(log, {
    name: 'scoring',
    inputs: takingAll('scoring.commands', 'ingest.events'),
    output: 'scoring.events',
    open: (partition) => Promise.resolve(rulesetState(stores, partition, faults)),
    rebuild: () => Promise.resolve(),
    logger,
    onFatal: (error) => fatal.push(error),
    ...others,
  }).start();
  return { status, fatal, stop };
}

/** The number of events on the log for each ruleset. */
export async function countRulesets(records: AsyncIterable<TailedRecord>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const record of records) {
    if (record.error !== undefined || !isRecord(record, declarations.rulesetCreated)) continue;
    counts.set(record.payload.ruleset_id, (counts.get(record.payload.ruleset_id) ?? 0) + 1);
  }
  return counts;
}

/** All rulesets in all stores, with the number of folds of each. */
export function rulesetsInStores(stores: Map<number, Store>): Map<string, number> {
  return new Map(
    [...stores.values()].flatMap(({ rulesets }) =>
      [...rulesets].map(([id, { count }]) => [id, count] as const),
    ),
  );
}

/** Writes bytes to a topic without validation. */
export async function putRaw(
  log: EventLog,
  topic: TopicName,
  messages: {
    partition: number;
    key?: string | null;
    value: Buffer | string | null;
    headers?: Record<string, string>;
  }[],
): Promise<void> {
  const producer = log[internals].kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  await producer.send({ topic: log[internals].wire(topic), messages });
  await producer.disconnect();
}
