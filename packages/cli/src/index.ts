// The command line as a function, for tests and for programs that want it whole.
export { run, type Surroundings } from './program.js';
export { exitCodes } from './errors.js';
export type { Output } from './output.js';
