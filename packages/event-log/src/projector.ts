// The projector folds topics into a read model, at least once, with its offsets in the read model's own checkpoint.
import type { Component } from './component.js';
import type { EventLog } from './event-log.js';
import { createProcessingMetrics } from './metrics.js';
import { PartitionGroup } from './partition-group.js';
import { GroupOffsetCommits } from './group-offset-commits.js';
import { topicsOf } from './inputs.js';
import { ProcessCycle } from './process-cycle.js';
import { openProjection } from './projection.js';
import type { ProcessorStatus } from './processor-options.js';
import type { ProjectorOptions } from './projector-options.js';
import type { Session } from './session.js';

export type { ProjectionState, ProjectorOptions } from './projector-options.js';

export function createProjector(log: EventLog, options: ProjectorOptions): Component<ProcessorStatus> {
  return { name: `projector ${options.name}`, start: () => startProjector(log, options) };
}

async function startProjector(log: EventLog, options: ProjectorOptions) {
  const metrics = createProcessingMetrics(options.name);
  const topics = topicsOf(options.inputs);
  const cycle = new ProcessCycle<Session>({
    log,
    inputs: topics,
    metrics,
    logger: options.logger,
    maxBytesPerBatch: options.maxBytesPerBatch ?? 2 * 1024 * 1024,
    takesAll: false,
    eventsEveryMs: options.everyMs ?? 0,
    patienceMs: () => 0,
  });
  const group = new PartitionGroup<Session>({
    log,
    groupId: `${log.config.namespace}.${options.name}`,
    topics,
    metrics,
    cycle,
    service: options,
    opener: (partition) => (_signal, touch, _touchByBroker, lease) =>
      openProjection({
        log,
        options,
        partition,
        touch,
        lease,
        positionsChanged: (positions) => offsetCommits.update(partition, positions),
      }),
  });
  await group.join();
  const offsetCommits = new GroupOffsetCommits(group, options.logger);
  return {
    value: { partitions: () => group.partitions(), ready: () => group.ready() },
    async stop() {
      await group.stopLoops();
      await cycle.stop();
      await offsetCommits.stop();
      await group.membership.stop();
    },
  };
}
