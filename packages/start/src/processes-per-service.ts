// How many processes of each service `npm start` runs: one, or what a variable such as SCORING_PROCESSES says.
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';

/** More share nothing: a service's work is divided by partitions, and one machine has few cores. */
const mostProcesses = 48;

/**
 * Reads `INGEST_PROCESSES`, `SCORING_PROCESSES`, `NOTIFICATION_PROCESSES`, `SHARE_PROCESSES` and `SITE_ANALYSIS_PROCESSES`.
 * @throws Error that names the variable and what it may be
 */
export function processesPerService(environment: NodeJS.ProcessEnv): Record<ServiceName, number> {
  return Object.fromEntries(
    serviceNames.map((name) => [name, processesOf(name, environment[variableOf(name)])]),
  ) as Record<ServiceName, number>;
}

function processesOf(name: ServiceName, text: string | undefined): number {
  if (text === undefined || text === '') return 1;
  const variable = variableOf(name);
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > mostProcesses)
    throw new Error(`${variable} is "${text}"; it must be a whole number from 1 to ${mostProcesses}.`);
  if (name === 'gateway' && count > 1)
    throw new Error(
      `${variable} is ${count}: each gateway would have a port of its own, and nothing here shares the requests out. Leave it out.`,
    );
  return count;
}

/** `SITE_ANALYSIS_PROCESSES`. */
function variableOf(name: ServiceName): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_PROCESSES`;
}
