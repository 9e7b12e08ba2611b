import { performance } from 'node:perf_hooks';

/** Returns a function that gives the share of one core that this process has used since the call. */
export function startCpuMeter(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / (performance.now() - startedAt);
  };
}
