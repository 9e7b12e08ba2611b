// The machine, the servers and the commit of a measurement.
import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type as osType } from 'node:os';
import type { RunningPlatform } from '@lead-scoring/platform';

export interface Machine {
  cpuModel: string;
  cores: number;
  memoryGiB: number;
  system: string;
  /** The release of the operating system's kernel, which changes more often than the machine. */
  kernel: string;
  node: string;
  /** The provider of each server, and the database's name and version. */
  servers: string;
  commit: string;
}

export function describeMachine(root: string, platform: RunningPlatform, mongodbVersion: string): Machine {
  const [cpu] = cpus();
  const { kafka, schemaRegistry, mongodb } = platform.providers;
  return {
    cpuModel: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: osType(),
    kernel: release(),
    node: process.versions.node,
    servers: `Kafka (${kafka ?? 'none'}), schema registry (${schemaRegistry ?? 'none'}), ${mongodbVersion} (${mongodb ?? 'none'})`,
    commit: commitOf(root),
  };
}

function commitOf(root: string): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
    const changed = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      ':!packages/benchmarks/RESULTS.md',
    );
    return git('rev-parse', 'HEAD') + (changed === '' ? '' : ' with uncommitted changes');
  } catch {
    return 'unknown: not a git checkout';
  }
}
