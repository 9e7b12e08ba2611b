// A small Debian sid in a folder, for packages of which the machine's own release has too old a version.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../commands.js';
import type { Guardian } from '../guardian.js';
import type { Progress } from '../progress.js';
import type { Machine } from './machine.js';

/** One line of `apt-get indextargets`, in the format that `debianMirror` asks for. */
const TARGET_FORMAT = '$(REPO_URI)|$(ORIGIN)|$(LABEL)|$(COMPONENT)';

/** The first mirror of Debian's main archive in the output of `apt-get indextargets`, or undefined. */
export function findDebianMirror(indexTargets: string): string | undefined {
  for (const line of indexTargets.split('\n')) {
    const [address, origin, label, component] = line.split('|');
    if (origin === 'Debian' && label === 'Debian' && component === 'main' && /^https?:/.test(address ?? '')) {
      return address;
    }
  }
  return undefined;
}

async function debianMirror(machine: Machine): Promise<string | undefined> {
  if (machine.distribution !== 'debian') {
    return undefined; // debootstrap then takes Debian's default mirror
  }
  const list = (): Promise<string> =>
    runCommand('apt-get', ['indextargets', '--format', TARGET_FORMAT, 'Created-By: Packages']);
  let mirror = findDebianMirror(await list());
  if (mirror === undefined) {
    // A fresh machine knows the origins of its sources only after the first update.
    await runCommand('apt-get', ['update']);
    mirror = findDebianMirror(await list());
  }
  return mirror;
}

/** The environment variable of apt's proxy, for debootstrap and for the apt inside the new root. */
async function proxyEnvironment(): Promise<Record<string, string>> {
  const line = await runCommand('apt-config', ['shell', 'PROXY', 'Acquire::http::Proxy']);
  const proxy = /^PROXY='(.+)'$/m.exec(line)?.[1];
  return proxy === undefined || proxy === 'DIRECT' ? {} : { http_proxy: proxy };
}

// Each mount is in the command's own namespace and ends with the command, also when that is killed. With /proc mounted and
// services forbidden, the packages' own scripts run as they do in an image build.
const IN_ROOT =
  'mount -t proc proc "$1/proc" 2>/dev/null || true; root="$1"; shift; exec chroot "$root" "$@"';

/** Runs a command inside a root, as root. */
export async function runInRoot(
  root: string,
  command: readonly string[],
  options: { guardian: Guardian; env?: Record<string, string> },
): Promise<string> {
  const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8', HOME: '/root', ...options.env };
  return runCommand(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', IN_ROOT, 'sh', root, ...command],
    { guardian: options.guardian, env },
  );
}

/** Versions of packages by name; null for any version. */
export type PinnedPackages = Readonly<Record<string, string | null>>;

/** A pinned version that the mirror does not have, and the version that it has. */
interface MissingVersion {
  name: string;
  wanted: string;
  available: string;
}

/**
 * The packages for `apt-get install`, each in its pinned version if the mirror has it, else in any. Debian's archive drops a
 * version when sid moves past it, unless the mirror is a snapshot.
 *
 * @param madison the output of `apt-cache madison` for the packages: `name | version | source`, a line for each version
 * @returns the arguments for apt, and the pinned versions that the mirror does not have
 */
export function packagesToInstall(
  pinned: PinnedPackages,
  madison: string,
): { install: string[]; missing: MissingVersion[] } {
  const lines = madison.split('\n').map((line) => line.split('|').map((part) => part.trim()));
  const install: string[] = [];
  const missing: MissingVersion[] = [];
  for (const [name, wanted] of Object.entries(pinned)) {
    const versions = lines.filter(([packageName]) => packageName === name).map(([, version = '']) => version);
    if (wanted !== null && versions.includes(wanted)) install.push(`${name}=${wanted}`);
    else {
      install.push(name);
      if (wanted !== null) missing.push({ name, wanted, available: versions[0] ?? 'none' });
    }
  }
  return { install, missing };
}

/**
 * Makes a Debian sid root in an existing empty folder and installs packages in it. Where the mirror no longer has a pinned version,
 * it installs the version that the mirror has, and a progress message names both.
 *
 * @throws Error when the mirror does not answer or a package cannot be unpacked; a package's configuration script may fail
 */
export async function makeDebianRoot(
  root: string,
  packages: PinnedPackages,
  context: DebianRootContext,
): Promise<void> {
  const { machine, guardian } = context;
  await machine.debootstrap();
  const mirror = await debianMirror(machine);
  const env = await proxyEnvironment();
  await runCommand(
    'unshare',
    [
      ...['--mount', '--propagation', 'private'],
      ...['debootstrap', '--variant=minbase', 'sid', root],
      ...(mirror === undefined ? [] : [mirror]),
    ],
    { guardian, env },
  );
  copyNetworkSettings(root);
  forbidServices(root);
  await installPackages(root, packages, { ...context, env });
  removeUnneededFiles(root);
}

interface DebianRootContext {
  machine: Machine;
  guardian: Guardian;
  progress: Progress;
}

/** Inside the root, host names are resolved and certificates trusted as on this machine. */
function copyNetworkSettings(root: string): void {
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt']) {
    try {
      mkdirSync(join(root, file, '..'), { recursive: true });
      copyFileSync(file, join(root, file));
    } catch {
      // The machine does not have this file, so the root needs none.
    }
  }
}

/** Packages neither start services nor make a PostgreSQL cluster when they are installed. */
function forbidServices(root: string): void {
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  mkdirSync(join(root, 'etc/postgresql-common'), { recursive: true });
  writeFileSync(join(root, 'etc/postgresql-common/createcluster.conf'), 'create_main_cluster = false\n');
}

async function installPackages(
  root: string,
  packages: PinnedPackages,
  { guardian, progress, env }: DebianRootContext & { env: Record<string, string> },
): Promise<void> {
  // The release file of a snapshot mirror has expired.
  const apt = ['apt-get', '-o', 'Acquire::Check-Valid-Until=false'];
  await runInRoot(root, [...apt, 'update'], { guardian, env });
  const names = Object.keys(packages);
  const madison = await runInRoot(root, ['apt-cache', 'madison', ...names], { guardian });
  const { install, missing } = packagesToInstall(packages, madison);
  for (const { name, wanted, available } of missing)
    progress.say(
      `Debian's mirror no longer has ${name} ${wanted}, which the system was tested with; installing ${available}. ` +
        "To get the tested version, point this machine's apt at a dated snapshot of Debian, remove PostgreSQL's folder from the cache and start again",
    );
  try {
    await runInRoot(root, [...apt, 'install', '--yes', '--no-install-recommends', ...install], {
      guardian,
      env,
    });
  } catch (error) {
    // Unpacked packages are enough: a configuration script that needs an init system may fail in a bare root.
    const states = await runInRoot(
      root,
      ['dpkg-query', '--show', '--showformat=${db:Status-Status}\n', ...names],
      { guardian },
    ).catch(() => 'not-installed');
    if (states.includes('not-installed')) {
      throw error;
    }
  }
}

function removeUnneededFiles(root: string): void {
  for (const folder of [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
    'usr/share/info',
  ]) {
    rmSync(join(root, folder), { recursive: true, force: true });
  }
}
