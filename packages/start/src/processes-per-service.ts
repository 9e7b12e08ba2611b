// The number of processes of each service that `npm start` runs: one, or the value of a variable such as SCORING_PROCESSES.
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';

/** A larger number is a mistake: the processes of a service divide its partitions, and one machine has few cores. */
const mostProcesses = 48;

/**
 * Reads `INGEST_PROCESSES`, `SCORING_PROCESSES`, `NOTIFICATION_PROCESSES`, `SHARE_PROCESSES` and `SITE_ANALYSIS_PROCESSES`.
 * @throws Error that names the variable and its allowed values
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
      `${variable} is ${count}: each gateway would have a port of its own, and nothing distributes the requests among them. Unset it.`,
    );
  return count;
}

/** `SITE_ANALYSIS_PROCESSES`. */
function variableOf(name: ServiceName): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_PROCESSES`;
}
