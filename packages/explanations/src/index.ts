// The read model that explains scores: its documents, the projection that fills it, and its readers.
export {
  emptyAccount,
  foldAccount,
  joinAccounts,
  type LeadAccount,
  type LeadActivity,
} from './account-model.js';
export type { AccountRequest } from './accounts.js';
export type { IsDeletedEvent } from './deleted-types.js';
export { readConfigurations } from './configurations.js';
export type { HistoryPoint } from './history-model.js';
export { readLevels } from './levels.js';
export {
  configurations,
  decisions,
  leadKey,
  sharedLeads,
  type ConfigurationDocument,
  type DecisionDocument,
  type DeletedTypeDocument,
  type SharedAccountDocument,
  type SharedLeadDocument,
} from './model.js';
export {
  accountExplanationCollections,
  explanationCollections,
  explanationProjection,
  type ExplanationOptions,
} from './projection.js';
export type { FoundLead, ReadExplanation } from './read.js';
export { nameOf, toldFields } from './state.js';
export { createExplanationReader, type ExplanationReader } from './reader.js';
