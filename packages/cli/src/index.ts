// The command line as a function, for tests and other programs.
export { run, type Surroundings } from './program.js';
export { exitCodes } from './errors.js';
export type { Output } from './output.js';
