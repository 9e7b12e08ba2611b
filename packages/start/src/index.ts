// Running the whole system on one machine, and the sample data it shows.
export type { StartFile } from './start-file.js';
export { obstacleAt } from './readiness.js';
export { passedSettings } from './settings.js';
export { startSettings } from './start-settings.js';
export {
  sampleEvents,
  sampleLevels,
  sampleRulesets,
  type SampleEvent,
  type SampleRuleset,
} from './sample-data.js';
export {
  nodeFlags,
  startSystem,
  type RunningService,
  type RunningSystem,
  type SystemOptions,
  type SystemSecrets,
} from './system.js';
