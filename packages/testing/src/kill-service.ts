// Kills a service of a running system.
import type { ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import type { TestSystem } from './test-system.js';

/** Sends SIGKILL; resolves when the supervisor has started the service again. */
export async function killService(system: Pick<TestSystem, 'service'>, name: ServiceName): Promise<void> {
  const { process } = system.service(name);
  const killed = process.pid;
  process.kill('SIGKILL');
  await eventually(
    `${name} is started again`,
    () => process.pid !== undefined && process.pid !== killed,
    60_000,
  );
}
