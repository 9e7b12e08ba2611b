// Folds scoring's events into the read model from which explanations are computed.
import type { LeadFieldName } from '@lead-scoring/contracts';
import { takenOf, type FoldedRecord, type ProjectionState } from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  deletePartition,
  offsetToNumber,
  type ReadModel,
} from '@lead-scoring/read-model';
import { ConfigurationProjection, type ConfigurationChange } from './configuration-projection.js';
import { explanationInputs } from './inputs.js';
import { LeadProjection, type LeadEvent } from './lead-projection.js';
import { configurations, decisions, sharedLeads } from './model.js';

export interface ExplanationPartitionOptions {
  /** Name of the projector that folds, and of its checkpoints. */
  projectorName: string;
  /** Called before documents of the partition are dropped. */
  beforeReset: () => Promise<void>;
  /** Maximum number of leads that a partition caches. */
  cachedLeads: number;
  /** Fields of leads to store besides the name. Default: none. */
  keptFields?: readonly LeadFieldName[];
}

export function openExplanationPartition(
  readModel: ReadModel,
  partition: number,
  { projectorName, beforeReset, cachedLeads, keptFields = [] }: ExplanationPartitionOptions,
): ProjectionState {
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);
  const foldedConfigurations = new ConfigurationProjection(readModel, { partition, writer });
  const foldedLeads = new LeadProjection(readModel, { partition, writer, cachedLeads, keptFields });
  return {
    checkpoint: () => checkpoints.load(projectorName, partition),
    store: (checkpoint) => checkpoints.store(projectorName, partition, checkpoint),
    fold: async (incoming: FoldedRecord[]): Promise<void> => {
      const { leadEvents, changes } = eventsOf(incoming);
      await foldedConfigurations.fold(changes);
      await foldedLeads.fold(leadEvents);
    },
    reset: async (touch) => {
      await beforeReset();
      await checkpoints.reset(projectorName, partition);
      // Leads before decisions, as in a removal.
      await deletePartition(readModel, sharedLeads, partition, touch);
      await deletePartition(readModel, decisions, partition, touch);
      await deletePartition(readModel, configurations, partition, touch);
      foldedLeads.clearCache();
    },
  };
}

/** The events on leads and the changes of configurations among the records, each in the order of the log. */
function eventsOf(incoming: readonly FoldedRecord[]): {
  leadEvents: LeadEvent[];
  changes: ConfigurationChange[];
} {
  const leadEvents: LeadEvent[] = [];
  const changes: ConfigurationChange[] = [];
  for (const record of incoming) {
    const taken = takenOf('scoring.events', explanationInputs['scoring.events'], record);
    if (!taken) continue;
    const offset = offsetToNumber(taken.offset);
    if (taken.type === 'LeadScored')
      leadEvents.push({ type: 'LeadScored', payload: taken.payload, json: taken.json, offset });
    else if (taken.type === 'LeadRemoved')
      leadEvents.push({ type: 'LeadRemoved', payload: taken.payload, offset });
    else changes.push({ event: taken, offset });
  }
  return { leadEvents, changes };
}
