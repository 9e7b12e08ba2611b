// The read model that explains scores: what it stores, the projection that fills it, and how it is read.
import { configurations, decisions, sharedLeads } from './model.js';

export { readDrivers, type DriversRequest, type LeadDrivers } from './drivers.js';
export { decisionsOf, readLeads } from './history.js';
export type { HistoryPoint } from './history-model.js';
export { readLevels } from './levels.js';
export {
  emptyLevelHistory,
  levelsAsOf,
  levelsOfNow,
  type LevelHistory,
  type LevelList,
} from './levels-model.js';
export {
  configurations,
  decisions,
  leadKey,
  sharedLeads,
  toDecision,
  toLead,
  type ConfigurationDocument,
  type DecisionDocument,
  type SharedLeadDocument,
} from './model.js';
export { openExplanationPartition, type ExplanationPartitionOptions } from './project.js';
export { findLead, readExplanation, type ReadExplanation } from './read.js';
export { nameOf, type SharedLead } from './state.js';

/** All that the projection stores: to be made in the database of the service that explains. */
export const explanationCollections = [sharedLeads, decisions, configurations];
