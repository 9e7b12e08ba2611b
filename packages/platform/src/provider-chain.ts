// Chooses the provider of each server: a configured address, else Docker, else native processes.
import { serverTitles, serverVariables, type Provider, type ServerName } from './endpoints.js';

/** The facts about this machine that the choice depends on. An obstacle is the reason why a provider cannot serve. */
export interface ProviderFacts {
  configured: ReadonlySet<ServerName>;
  dockerObstacle: Partial<Record<ServerName, string>>;
  nativeObstacle: string | undefined;
}

/** No provider fits; the message names the three ways to get one. */
export class NoProviderError extends Error {
  override name = 'NoProviderError';
}

/**
 * Chooses a provider for each server asked for. There is no fallback beyond the three.
 *
 * @throws NoProviderError when a server is neither configured nor can be brought up
 */
export function chooseProviders(
  servers: readonly ServerName[],
  facts: ProviderFacts,
): Partial<Record<ServerName, Provider>> {
  const chosen: Partial<Record<ServerName, Provider>> = {};
  const missing: ServerName[] = [];
  for (const server of servers) {
    if (facts.configured.has(server)) {
      chosen[server] = 'configured';
    } else if (facts.dockerObstacle[server] === undefined) {
      chosen[server] = 'docker';
    } else if (facts.nativeObstacle === undefined) {
      chosen[server] = 'native';
    } else {
      missing.push(server);
    }
  }
  const [first] = missing;
  if (first !== undefined) {
    throw new NoProviderError(
      [
        `Nothing provides ${missing.map((server) => serverTitles[server]).join(', ')}. Any one of these three helps:`,
        `  1. Name running servers: set ${missing.map((server) => serverVariables[server]).join(', ')}.`,
        `  2. Start a Docker engine (now: ${facts.dockerObstacle[first] ?? 'usable'}).`,
        `  3. Run as root on Debian or Ubuntu, to run the servers without Docker (now: ${facts.nativeObstacle ?? 'usable'}).`,
      ].join('\n'),
    );
  }
  return chosen;
}
