// By how much the memory of services rises during a piece of work.
import type { ServiceName } from '@lead-scoring/contracts';
import type { RunningRuledSystem } from './contenders/whole-system.js';

const pollMs = 20;

/** @returns the work's result, and by how much the memory of these services together rose at most, in MiB */
export async function withMemory<Result>(
  running: RunningRuledSystem,
  services: readonly ServiceName[],
  work: () => Promise<Result>,
): Promise<{ result: Result; memoryMiB: number }> {
  const memory = () => services.reduce((sum, service) => sum + running.memoryMiB(service), 0);
  const before = memory();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, memory());
  }, pollMs);
  try {
    const result = await work();
    return { result, memoryMiB: most - before };
  } finally {
    clearInterval(sampling);
  }
}
