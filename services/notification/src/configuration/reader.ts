// How the parts of the service see configurations: what is published, by OU.
import type { NotificationConfiguration } from './state.js';

/** Reads published configurations; one that has not changed costs a look at its version. */
export interface ConfigurationReader {
  /** One for each OU that is asked for, empty where none is published; the same object while its version is the same. */
  load(ouIds: Iterable<string>): Promise<Map<string, NotificationConfiguration>>;
}
