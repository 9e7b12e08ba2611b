// Waits until a version of an OU's configuration is in force.
import type { NotificationConfiguration } from '../configuration/state.js';
import type { Clock } from './clock.js';

export interface ConfigurationLoader {
  load(ouIds: Iterable<string>): Promise<ReadonlyMap<string, NotificationConfiguration>>;
}

/** A change of configuration is published when its own partition has folded it: soon after it was decided. */
const publishedWithinMs = 10_000;
const pauseBetweenLooksMs = 20;

/** Passes by itself: trying again helps. */
class ConfigurationNotInForce extends Error {
  override readonly name = 'ConfigurationNotInForce';
  readonly retriable = true;
}

/** @throws ConfigurationNotInForce after 10 seconds */
export async function waitForVersion(
  loader: ConfigurationLoader,
  { ouId, version: wanted }: { ouId: string; version: number },
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const deadline = clock.now() + publishedWithinMs;
  for (;;) {
    const version = (await loader.load([ouId])).get(ouId)?.version ?? 0;
    if (version >= wanted) return;
    if (clock.now() > deadline)
      throw new ConfigurationNotInForce(`version ${version} of a configuration is in force, not ${wanted}`);
    await new Promise((resolve) => setTimeout(resolve, pauseBetweenLooksMs));
  }
}
