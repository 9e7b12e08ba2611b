// The processor that runs a service's capabilities in every partition that this process is given, with the projectors of the
// projections that follow other services.
import {
  createProcessor,
  type Component,
  type EventLog,
  type ProcessorOptions,
  type ProcessorStatus,
} from '@lead-scoring/event-log';
import {
  isRetriable,
  isSilence,
  partOf,
  type EditionedReadModel,
  type FoldedParts,
} from '@lead-scoring/read-model';
import { EditionedPartition } from './editioned-partition.js';
import { ownTopic } from './folding-state.js';
import { openServicePartition } from './partition.js';
import { createFollower } from './following-projection.js';
import type { ServiceCapabilities } from './service.js';

export interface ServiceProcessorOptions extends Pick<ProcessorOptions, 'logger' | 'onFatal' | 'commandsTo'> {
  /** Follows the live edition; a rebuild fills another one beside it. */
  readModel: EditionedReadModel;
  /**
   * Whether the process goes on while its database is silent, because it also does work that needs none; else it is given up
   * after a while, to be started anew. Default false.
   */
  outlivesDatabase?: boolean;
}

/** Starts with the component, and leaves the consumer groups when it is stopped. */
export function createServiceProcessor(
  log: EventLog,
  service: ServiceCapabilities,
  options: ServiceProcessorOptions,
): Component<ProcessorStatus> {
  const folded = foldedParts(log, service);
  const processor = ownProcessor(log, service, folded, options);
  // Projectors start before the processor, because decisions may wait for documents that a projector folds.
  const parts = [
    ...service.followers.map((one) => createFollower(log, one, { ...options, version: service.version })),
    processor,
  ];
  return {
    name: processor.name,
    start: async () => {
      await options.readModel.editions.state(folded);
      return startAll(parts);
    },
  };
}

/** All that has to be level before another edition of the service's read models may be the live one. */
function foldedParts(log: EventLog, { name, followers, version }: ServiceCapabilities): FoldedParts {
  const readers = [name, ...followers.map((follower) => follower.name)];
  const partitions = Array.from({ length: log.config.partitions }, (_, partition) => partition);
  return {
    parts: readers.flatMap((reader) => partitions.map((partition) => partOf(reader, partition))),
    version,
  };
}

/** Stopped in the opposite order; where one does not start, those before it are stopped. */
async function startAll(
  parts: readonly Component<ProcessorStatus>[],
): Promise<{ value: ProcessorStatus; stop: () => Promise<void> }> {
  const started: { value: ProcessorStatus; stop: () => Promise<void> }[] = [];
  const stop = async () => {
    for (const part of started.toReversed()) await part.stop();
  };
  try {
    for (const part of parts) started.push(await part.start());
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    value: {
      partitions: () => started.flatMap(({ value }) => value.partitions()),
      ready: () => started.every(({ value }) => value.ready()),
    },
    stop,
  };
}

function ownProcessor(
  log: EventLog,
  service: ServiceCapabilities,
  folded: FoldedParts,
  { readModel, outlivesDatabase = false, ...options }: ServiceProcessorOptions,
): Component<ProcessorStatus> {
  const { name } = service;
  const output = `${name}.events` as const;
  return createProcessor(log, {
    ...service.batching,
    ...options,
    name,
    inputs: service.inputs,
    output,
    open: (partition, _touch, lease) =>
      EditionedPartition.open({
        reader: name,
        version: service.version,
        partition,
        topics: ownTopic(output),
        log,
        readModel,
        lease,
        logger: options.logger.child({ partition }),
        open: (edition) => openServicePartition(service, edition, partition),
      }),
    rebuild: (rebuildId) => readModel.editions.request(rebuildId, folded),
    ...(!outlivesDatabase && { isSilence }),
    isRetriable,
  });
}
