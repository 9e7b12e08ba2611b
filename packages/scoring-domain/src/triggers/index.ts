// Triggers: when a lead's events and scores make one fire, decided by pure functions that notification and scoring share.
export { distinctRuleIds } from './cause.js';
export {
  compileAlone,
  compileAlwaysThere,
  type CompiledMilestone,
  type CompiledTriggers,
  compileTriggers,
} from './compiled-triggers.js';
export {
  asksFilters,
  concernsIngested,
  concernsScored,
  decideDeletion,
  decideIngested,
  decideScored,
} from './decide.js';
export type { FiringDecision } from './decision.js';
export { evolveLead } from './evolve.js';
export { isEnded, isExplained } from './forgetting.js';
export { firingIdOf, notificationIdOf, positionText } from './ids.js';
export {
  type Gain,
  initialLeadState,
  type KeptMemory,
  type LeadState,
  noDeletions,
  noMemory,
  type StepMatch,
  type TriggerMemory,
} from './lead-state.js';
export { lineOf } from './line.js';
export { flood, memorySince, reactionOf, recentFirings, silentUntil, withFired } from './memory.js';
export {
  type Deletion,
  type FiredDraft,
  type FiredEvent,
  type FiringDraft,
  type FiringEvent,
  isFired,
  type Source,
} from './messages.js';
export { isRearmedBy } from './milestone.js';
export { maximumEntries, remember, type Timeline, type TimelineEntry } from './timeline.js';
export {
  createdTrigger,
  filterIdOf,
  isByLevel,
  isOfKind,
  type MilestoneTrigger,
  namesScoring,
  type SequenceTrigger,
  type SurgeTrigger,
  type Trigger,
} from './trigger.js';
export {
  decideIngestedHistory,
  decideScoredHistory,
  type HistoryContext,
  type HistoryDecision,
} from './history.js';
