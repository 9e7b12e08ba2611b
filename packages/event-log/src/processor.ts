// The processor is the only writer of the partitions that it owns: it decides on commands and events and appends its
// own events, exactly once.
import { recordsOf, type TopicName } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import { createDecisionLimits } from './decision-limits.js';
import { internals, type EventLog } from './event-log.js';
import { topicsOf } from './inputs.js';
import { transactionTimeoutMs } from './kafka/transactional-producer.js';
import { createProcessingMetrics } from './metrics.js';
import { PartitionGroup } from './partition-group.js';
import { ProcessCycle } from './process-cycle.js';
import { FailedRecords } from './processing/failed-records.js';
import { JointProducers, type ProducersOptions } from './processing/joint-producer.js';
import { defaultBytesPerBatch, openSession } from './processing/open-session.js';
import type { PartitionMemory } from './processing/partition-context.js';
import type { PartitionSession } from './processing/partition-session.js';
import type { ProcessorOptions, ProcessorStatus } from './processor-options.js';
import { createReplies } from './replies.js';
import { createRecordWriter } from './writer.js';

export function createProcessor(log: EventLog, options: ProcessorOptions): Component<ProcessorStatus> {
  return { name: `processor ${options.name}`, start: () => startProcessor(log, options) };
}

async function startProcessor(log: EventLog, options: ProcessorOptions) {
  const metrics = createProcessingMetrics(
    options.name,
    recordsOf(options.output).map(({ type }) => type),
  );
  const writer = await createRecordWriter(log).start();
  const groupId = `${log.config.namespace}.${options.name}`;
  const producers = new JointProducers(producersOptionsOf(log, options, groupId));
  const cycle = new ProcessCycle<PartitionSession>({
    ...cycleOptionsOf(options),
    log,
    metrics,
    round: {
      begin: (members) => members.forEach(({ session }) => session.producer.enterRound()),
      ended: ({ session }) => session.producer.leaveRound(),
    },
  });
  const group = new PartitionGroup<PartitionSession>({
    log,
    groupId,
    topics: topicsOf(options.inputs),
    metrics,
    cycle,
    service: options,
    opener: (partition) => {
      const logger = options.logger.child({ partition });
      const reply = createReplies(writer.value, logger);
      const own = { log, options, partition, groupId, logger, metrics, reply, producers, ...newMemory() };
      return (signal, touch, touchByBroker, lease) =>
        openSession({ ...own, signal, touch, touchByBroker, lease });
    },
    onAssigned: (partitions) => options.logger.info({ partitions }, 'partitions assigned'),
  });
  await group.join();
  return {
    value: { partitions: () => group.partitions(), ready: () => group.ready() },
    async stop() {
      await group.stopLoops();
      await cycle.stop();
      producers.close();
      await group.membership.stop();
      await writer.stop();
    },
  };
}

/** The cycle options of a processor: all inputs take part in each round, because they share one transaction. */
function cycleOptionsOf(options: ProcessorOptions) {
  const { patienceMs = {} } = options;
  return {
    inputs: topicsOf(options.inputs),
    logger: options.logger,
    maxBytesPerBatch: options.maxBytesPerBatch ?? defaultBytesPerBatch,
    takesAll: true,
    eventsEveryMs: 0,
    patienceMs: (topic: TopicName) => patienceMs[topic] ?? 0,
  };
}

function producersOptionsOf(log: EventLog, options: ProcessorOptions, groupId: string): ProducersOptions {
  const { inputs, output, commandsTo = [], name } = options;
  const written: TopicName[] = [...topicsOf(inputs), output, ...commandsTo, `${name}.dead-letters`];
  const topics = written.map((topic) => log[internals].wire(topic));
  return { log, groupId, topics, timeoutMs: options.transactionTimeoutMs ?? transactionTimeoutMs };
}

function newMemory(): PartitionMemory {
  return {
    failed: new FailedRecords(),
    limits: createDecisionLimits(),
    committed: new Map(),
    pendingAnswers: new Set(),
    owned: {},
  };
}
