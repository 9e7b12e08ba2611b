// What the service knows of one partition, in three parts: configurations by OU, firings by lead, deliveries by channel.
// Each decides on its own records and folds its own events; here they become one processor's state.
import type {
  Checkpoint,
  Decision,
  FoldedRecord,
  IncomingRecord,
  PartitionState,
} from '@lead-scoring/event-log';
import { createCheckpoints, type ReadModel } from '@lead-scoring/read-model';
import { openConfiguration, type ConfigurationOptions } from './configuration/partition.js';
import { openDelivery, type DeliveryOptions } from './delivery/partition.js';
import { openFiring, type FiringOptions } from './firing/partition.js';

export const processorName = 'notification';

/** Shared by the partitions of a process. */
export interface PartitionOptions {
  configuration: ConfigurationOptions;
  firing: FiringOptions;
  delivery: DeliveryOptions;
}

export function openPartition(
  readModel: ReadModel,
  partition: number,
  options: PartitionOptions,
): PartitionState {
  const checkpoints = createCheckpoints(readModel);
  const configuration = openConfiguration(readModel, partition, options.configuration);
  const firing = openFiring(readModel, partition, options.firing);
  const delivery = openDelivery(readModel, partition, options.delivery);

  async function decideCommands(incoming: readonly IncomingRecord[]): Promise<Decision> {
    const configured = await configuration.decide(incoming);
    const delivered = await delivery.decide(incoming);
    return {
      events: [...configured.events, ...delivered.events],
      commands: [...configured.commands, ...delivered.commands],
      replies: [...configured.replies, ...delivered.replies],
    };
  }

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    decide: (incoming: IncomingRecord[]) =>
      incoming[0]?.topic === 'notification.commands' ? decideCommands(incoming) : firing.decide(incoming),
    fold: async (events: FoldedRecord[]) => {
      try {
        await configuration.fold(events);
        await firing.fold(events);
        await delivery.fold(events);
      } catch (error) {
        // What is in hand may be ahead of what is stored; the same fold again starts from what is stored.
        firing.clear();
        throw error;
      }
    },
    caughtUp: () => {
      delivery.caughtUp();
      return Promise.resolve();
    },
    store: async (checkpoint: Checkpoint, awaited: AbortSignal) => {
      await firing.write(awaited);
      await checkpoints.store(processorName, partition, checkpoint);
    },
    reset: async () => {
      await checkpoints.reset(processorName, partition);
      await configuration.reset();
      await firing.reset();
      await delivery.reset();
    },
    close: async () => {
      await firing.close();
      await delivery.close();
    },
  };
}
