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

  /** The parts know nothing of each other's state: commands and leads' events may be decided in any order. */
  async function decide(incoming: readonly IncomingRecord[]): Promise<Decision> {
    const commands = incoming.filter(({ topic }) => topic === 'notification.commands');
    const others = incoming.filter(({ topic }) => topic !== 'notification.commands');
    const fired = await firing.decide(others);
    const configured = await configuration.decide(commands);
    const delivered = await delivery.decide(commands);
    return {
      events: [...fired.events, ...configured.events, ...delivered.events],
      commands: [...fired.commands, ...configured.commands, ...delivered.commands],
      replies: async () => [...configured.replies, ...(await delivered.replies())],
    };
  }

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    decide,
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
      await Promise.all([firing.write(awaited), delivery.written()]);
      await checkpoints.store(processorName, partition, checkpoint);
    },
    reset: async (touch) => {
      await checkpoints.reset(processorName, partition);
      await configuration.reset(touch);
      await firing.reset(touch);
      await delivery.reset(touch);
    },
    close: async () => {
      await firing.close();
      await delivery.close();
    },
  };
}
