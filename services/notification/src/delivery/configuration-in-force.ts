// Waits until a version of an OU's configuration is published.
import { setTimeout as delay } from 'node:timers/promises';
import type { NotificationConfiguration } from '../configuration/state.js';
import type { Clock } from './clock.js';

export interface ConfigurationLoader {
  load(ouIds: Iterable<string>): Promise<ReadonlyMap<string, NotificationConfiguration>>;
}

/** A changed configuration is published once its own partition has folded it, a moment after the decision. */
const publishedWithinMs = 10_000;
const pauseBetweenLooksMs = 20;

/** Retriable: the configuration is published in a moment. */
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
      throw new ConfigurationNotInForce(
        `version ${wanted} of a configuration is not published yet; version ${version} is`,
      );
    await delay(pauseBetweenLooksMs);
  }
}
