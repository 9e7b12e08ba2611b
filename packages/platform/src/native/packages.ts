// Installing packages of Debian or Ubuntu on this machine.
import { runCommand } from '../commands.js';
import type { Guardian } from '../guardian.js';
import type { Progress } from '../progress.js';
import type { BuildCache } from './build-cache.js';

export interface PackageContext {
  cache: BuildCache;
  guardian: Guardian;
  progress: Progress;
}

/** @throws Error when apt-get cannot install one of them */
export async function installPackages(
  { cache, guardian, progress }: PackageContext,
  packages: readonly string[],
): Promise<void> {
  await cache.exclusively('apt', () =>
    progress.step(`installing ${packages.join(', ')} with apt-get`, async () => {
      const options = {
        guardian,
        env: { DEBIAN_FRONTEND: 'noninteractive' },
      };
      // A failed update is reported only if the installation fails: one of several sources may be down without effect on it.
      const updateFailure = await runCommand('apt-get', ['update'], options).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : 'unknown reason'),
      );
      try {
        await runCommand(
          'apt-get',
          ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=600', ...packages],
          options,
        );
      } catch (error) {
        throw new Error(
          `could not install ${packages.join(', ')}${updateFailure === undefined ? '' : ` (and apt-get update failed: ${updateFailure})`}`,
          { cause: error },
        );
      }
    }),
  );
}
