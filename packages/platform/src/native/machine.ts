// This machine as the host of native servers: whether it can run them, the tools that it has, and the installation of missing
// tools from Debian's packages.
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../commands.js';
import { installPackages, type PackageContext } from './packages.js';
import { findProgram, isExecutable, isReadable } from './programs.js';

/** The oldest Java that runs Kafka 4. */
const JAVA_VERSION = 17;
/** The oldest Go that FerretDB's module allows. */
const GO_VERSION = { major: 1, minor: 25 };

export interface MachineFacts {
  platform: NodeJS.Platform;
  userId: number | undefined;
  /** Content of /etc/os-release, empty when there is none. */
  osRelease: string;
  /** Whether private mounts work: in a container without privileges they do not. */
  mayMount: boolean;
}

/** `debian`, `ubuntu` or a name that the machine gives itself; one derived from Debian counts as Debian. */
export function distribution(osRelease: string): string {
  const field = (key: string): string =>
    new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm').exec(osRelease)?.[1]?.toLowerCase() ?? '';
  const names = [field('ID'), ...field('ID_LIKE').split(' ')];
  return names.includes('ubuntu') ? 'ubuntu' : names.includes('debian') ? 'debian' : (names[0] ?? '');
}

/** The reason why native servers cannot run on a machine with these facts, or undefined. */
export function nativeObstacleIn(facts: MachineFacts): string | undefined {
  if (facts.platform !== 'linux') {
    return `this is ${facts.platform}, not Linux`;
  }
  const name = distribution(facts.osRelease);
  if (name !== 'debian' && name !== 'ubuntu') {
    return `this Linux is ${name === '' ? 'unknown' : name}, not Debian or Ubuntu`;
  }
  if (facts.userId !== 0) {
    return 'you are not root';
  }
  if (!facts.mayMount) {
    return 'this container may not mount anything; start it privileged';
  }
  return undefined;
}

/** Inspects this machine. Resolves with the reason why native servers cannot run on it, or undefined. */
export async function nativeObstacle(): Promise<string | undefined> {
  const facts: MachineFacts = {
    platform: process.platform,
    userId: process.getuid?.(),
    osRelease: readOsRelease(),
    mayMount: true,
  };
  const obstacle = nativeObstacleIn(facts);
  if (obstacle !== undefined) {
    return obstacle;
  }
  const mayMount = await runCommand('unshare', ['--mount', '--propagation', 'private', 'true']).then(
    () => true,
    () => false,
  );
  return nativeObstacleIn({ ...facts, mayMount });
}

function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

export interface Machine {
  distribution: string;
  /** The path of a `java` that is new enough; installs one if there is none. */
  java(): Promise<string>;
  /** Installs Maven if it is missing, and resolves with the environment in which it uses that Java. */
  maven(): Promise<Record<string, string>>;
  /** Installs debootstrap if it is missing. */
  debootstrap(): Promise<void>;
  /** The path of a `go` that is new enough, or undefined. That of Debian's release is often too old. */
  go(): Promise<string | undefined>;
}

export interface MachineContext extends PackageContext {
  environment: NodeJS.ProcessEnv;
}

/** Every `java` that Debian's packages installed; the one in PATH may be another. */
function installedJavas(): string[] {
  const folder = '/usr/lib/jvm';
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name, 'bin', 'java'));
  } catch {
    return [];
  }
}

/** The major version in the output of `java -version`, which writes 8 as 1.8. */
export function javaVersion(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output);
  return match ? Number(match[1]) : undefined;
}

/** Whether the output of `go version` names at least `GO_VERSION`. */
export function isGoNewEnough(output: string): boolean {
  const match = /go version go(\d+)\.(\d+)/.exec(output);
  if (!match) {
    return false;
  }
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > GO_VERSION.major || (major === GO_VERSION.major && minor >= GO_VERSION.minor);
}

/** The tools of this machine, as root on Debian or Ubuntu. */
export function inspectMachine(context: MachineContext): Machine {
  const { environment } = context;
  const name = distribution(readOsRelease());
  // Several servers ask at the same time: the search and the installation run once.
  let providedJava: Promise<string> | undefined;
  let providedDebootstrap: Promise<void> | undefined;
  const java = (): Promise<string> => (providedJava ??= provideJava(context));

  return {
    distribution: name,
    java,
    async maven() {
      const program = await java();
      if (findProgram('mvn', environment) === undefined) {
        await installPackages(context, ['maven']);
      }
      return { JAVA_HOME: dirname(dirname(realpathSync(program))) };
    },
    debootstrap: () => (providedDebootstrap ??= provideDebootstrap(context, name)),
    async go() {
      const program = findProgram('go', environment);
      const output = program === undefined ? '' : await runCommand(program, ['version']).catch(() => '');
      return isGoNewEnough(output) ? program : undefined;
    },
  };
}

async function provideJava(context: MachineContext): Promise<string> {
  let found = await findJava(context.environment);
  for (const choice of ['default-jre-headless', `openjdk-${JAVA_VERSION}-jre-headless`]) {
    if (found === undefined) {
      await installPackages(context, [choice]).catch((error: unknown) => context.progress.say(String(error)));
      found = await findJava(context.environment);
    }
  }
  if (found === undefined) {
    throw new Error(
      `Kafka and the schema registry need Java ${JAVA_VERSION} or newer: none was found, and apt-get could not install one. Install a Java, or set JAVA_HOME`,
    );
  }
  return found;
}

/** The first `java` that is new enough, from JAVA_HOME, PATH and Debian's packages in this order. */
async function findJava(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const home = environment['JAVA_HOME'];
  const candidates = [
    home === undefined ? undefined : join(home, 'bin', 'java'),
    findProgram('java', environment),
    ...installedJavas(),
  ];
  for (const candidate of candidates) {
    if (candidate !== undefined && isExecutable(candidate)) {
      // Java writes its version to standard error.
      const output = await runCommand('sh', ['-c', '"$0" -version 2>&1', candidate]).catch(() => '');
      if ((javaVersion(output) ?? 0) >= JAVA_VERSION) {
        return candidate;
      }
    }
  }
  return undefined;
}

async function provideDebootstrap(context: MachineContext, machine: string): Promise<void> {
  const missing = findProgram('debootstrap', context.environment) === undefined ? ['debootstrap'] : [];
  if (machine === 'ubuntu' && !isReadable('/usr/share/keyrings/debian-archive-keyring.gpg')) {
    missing.push('debian-archive-keyring');
  }
  if (missing.length > 0) {
    await installPackages(context, missing);
  }
}
