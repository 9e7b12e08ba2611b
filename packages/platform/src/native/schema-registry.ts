// Apicurio Registry as a plain Java process: an open registry that speaks Confluent's API.
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../commands.js';
import { freePort } from '../ports.js';
import type { ProcessHandle } from '../processes.js';
import { verifySchemaRegistry } from '../readiness.js';
import { classArchiveOptions, type ServerHome } from './class-archive.js';
import type { NativeContext } from './native-server.js';

const APICURIO_VERSION = '2.6.13.Final';
const MAVEN_DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

async function install({ cache, machine, guardian, progress }: NativeContext): Promise<string> {
  const part = await cache.part(`apicurio-registry-${APICURIO_VERSION}`, async (directory) => {
    const env = await machine.maven();
    await progress.step(`schema registry ${APICURIO_VERSION}: fetching with Maven`, async () => {
      const artifact = `io.apicurio:apicurio-registry-app:${APICURIO_VERSION}:tar.gz:all`;
      await runCommand(
        'mvn',
        [
          '--batch-mode',
          '--quiet',
          `${MAVEN_DEPENDENCY_PLUGIN}:copy`,
          `-Dartifact=${artifact}`,
          `-DoutputDirectory=${directory}`,
        ],
        // Runs in a folder without a pom.xml, which Maven would read.
        { env, guardian, cwd: directory },
      );
      const archive = join(directory, `apicurio-registry-app-${APICURIO_VERSION}-all.tar.gz`);
      await runCommand(
        'tar',
        ['--extract', '--gzip', '--no-same-owner', '--file', archive, '--directory', directory],
        {
          guardian,
        },
      );
      rmSync(archive);
    });
  });
  return join(part, `apicurio-registry-app-${APICURIO_VERSION}-runner.jar`);
}

interface RegistryProgram {
  java: string;
  /** The registry's jar. */
  program: string;
  /** Further options of Java. */
  javaOptions: readonly string[];
}

export interface NativeSchemaRegistry {
  stop: () => Promise<void>;
}

/**
 * Brings up the registry and waits until it answers.
 *
 * @throws Error when it cannot be installed or does not come up
 */
export async function startSchemaRegistry(context: NativeContext): Promise<NativeSchemaRegistry> {
  const { machine, directory, progress } = context;
  const [program, java] = await Promise.all([install(context), machine.java()]);
  const javaOptions = await classArchiveOptions(context, {
    name: `apicurio-registry-${APICURIO_VERSION}`,
    folder: dirname(program),
    java,
    train: (home, options) => trainRegistry(home, { java, program, javaOptions: options }),
  });
  const { 'schema-registry': port } = await directory.ports(['schema-registry']);
  context.announce({ schemaRegistryUrl: urlAt(port) });
  return progress.step(`schema registry ${APICURIO_VERSION}: starting`, async () => {
    const { handle } = await startRegistry(context, { java, program, javaOptions }, port);
    return { stop: () => handle.stop(directory.temporary ? 'SIGKILL' : 'SIGTERM') };
  });
}

function urlAt(port: number): string {
  return `http://127.0.0.1:${port}/apis/ccompat/v7`;
}

async function startRegistry(
  { directory, supervise }: ServerHome,
  { java, program, javaOptions }: RegistryProgram,
  port: number,
): Promise<{ url: string; handle: ProcessHandle }> {
  const home = join(directory.path, 'schema-registry');
  mkdirSync(home, { recursive: true });
  const url = urlAt(port);
  const handle = await supervise({
    name: 'schema-registry',
    command: java,
    args: [
      '-Xms64m',
      '-Xmx320m',
      '-XX:+UseSerialGC',
      // It starts a third faster, and what it has to do later is little.
      '-XX:TieredStopAtLevel=1',
      ...javaOptions,
      '-Dquarkus.http.host=127.0.0.1',
      `-Dquarkus.http.port=${port}`,
      '-Dquarkus.log.level=WARN',
      '-jar',
      program,
    ],
    env: {
      // A file, as ids that were given away must never be given to other schemas; and each change written
      // at once: the default of half a second would lose the last ones with the process.
      REGISTRY_DATASOURCE_URL: `jdbc:h2:file:${join(home, 'schemas')};WRITE_DELAY=0`,
    },
    ready: () => verifySchemaRegistry(url),
  });
  return { url, handle };
}

/** Starts a registry in `home`, uses it once as the system uses it, and ends it. */
async function trainRegistry(home: ServerHome, program: RegistryProgram): Promise<void> {
  const { url, handle } = await startRegistry(home, program, await freePort());
  const ask = async (method: string, path: string, body?: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
  };
  const schema = JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' });
  try {
    await ask('POST', '/subjects/training/versions', { schemaType: 'JSON', schema });
    await ask('PUT', '/config/training', { compatibility: 'BACKWARD' });
    await ask('POST', '/subjects/training', { schemaType: 'JSON', schema });
    await ask('GET', '/subjects/training/versions/latest');
  } finally {
    await handle.stop();
  }
}
