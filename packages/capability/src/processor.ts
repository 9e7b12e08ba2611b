// The processor that runs a service's capabilities in every partition that this process is given.
import {
  createProcessor,
  type Component,
  type EventLog,
  type ProcessorOptions,
  type ProcessorStatus,
} from '@lead-scoring/event-log';
import { isRetriable, isSilence, underLease, type ReadModel } from '@lead-scoring/read-model';
import { openServicePartition } from './partition.js';
import type { ServiceCapabilities } from './service.js';

export interface ServiceProcessorOptions extends Pick<ProcessorOptions, 'logger' | 'onFatal' | 'commandsTo'> {
  readModel: ReadModel;
  /**
   * Whether the process goes on while its database is silent, because it also does work that needs none; else it is given up
   * after a while, to be started anew. Default false.
   */
  outlivesDatabase?: boolean;
}

/** Starts with the component, and leaves the consumer group when it is stopped. */
export function createServiceProcessor(
  log: EventLog,
  service: ServiceCapabilities,
  { readModel, outlivesDatabase = false, ...options }: ServiceProcessorOptions,
): Component<ProcessorStatus> {
  return createProcessor(log, {
    ...service.batching,
    ...options,
    name: service.name,
    inputs: service.inputs,
    output: `${service.name}.events`,
    open: (partition, _touch, lease) =>
      Promise.resolve(openServicePartition(service, underLease(readModel, lease), partition)),
    ...(!outlivesDatabase && { isSilence }),
    isRetriable,
  });
}
