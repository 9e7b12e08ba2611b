// The servers underneath the system, and the supervisor that runs its own processes.
export type { BrokerControl, PlatformEndpoints, Provider, ServerName } from './endpoints.js';
export type { GuardedAddresses, GuardedListeners } from './native/guarded-kafka.js';
export { openBuildCache } from './native/build-cache.js';
export { createProgress } from './progress.js';
export { ignoredVariables } from './docker.js';
export { startGuardian, type Guardian } from './guardian.js';
export { startPlatform, type PlatformOptions, type RunningPlatform } from './platform.js';
export {
  stopKeptPlatform,
  useKeptPlatform,
  type KeptPlatform,
  type KeptPlatformOptions,
} from './kept-platform.js';
export { freePort, isPortFree } from './ports.js';
export {
  crashLoopAttempts,
  startProcess,
  type ProcessExit,
  type ProcessHandle,
  type ProcessOptions,
  type ProcessRestart,
} from './processes.js';
export { programEnvironment } from './program-environment.js';
export { NoProviderError } from './provider-chain.js';
