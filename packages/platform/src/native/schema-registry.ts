// Apicurio Registry as a plain Java process: an open registry that speaks Confluent's API.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../commands.js';
import { verifySchemaRegistry } from '../readiness.js';
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

export interface NativeSchemaRegistry {
  url: string;
  stop: () => Promise<void>;
}

/**
 * Starts the registry and waits until it answers.
 *
 * @throws Error when it cannot be installed or does not come up
 */
export async function startSchemaRegistry(context: NativeContext): Promise<NativeSchemaRegistry> {
  const { machine, directory, progress } = context;
  const [program, java] = await Promise.all([install(context), machine.java()]);
  const { 'schema-registry': port } = await directory.ports(['schema-registry']);
  const home = join(directory.path, 'schema-registry');
  mkdirSync(home, { recursive: true });
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`;
  return progress.step(`schema registry ${APICURIO_VERSION}: starting`, async () => {
    const handle = await context.supervise({
      name: 'schema-registry',
      command: java,
      args: [
        '-Xms64m',
        '-Xmx320m',
        '-XX:+UseSerialGC',
        // Starts a third faster; the registry has little to do afterwards.
        '-XX:TieredStopAtLevel=1',
        '-Dquarkus.http.host=127.0.0.1',
        `-Dquarkus.http.port=${port}`,
        '-Dquarkus.log.level=WARN',
        '-jar',
        program,
      ],
      env: {
        // A file, because a schema's id must never be given to another schema. Each change is written at once: with
        // the default delay of 500 ms, a kill would lose the last ids.
        REGISTRY_DATASOURCE_URL: `jdbc:h2:file:${join(home, 'schemas')};WRITE_DELAY=0`,
      },
      ready: () => verifySchemaRegistry(url),
    });
    return { url, stop: () => handle.stop(directory.temporary ? 'SIGKILL' : 'SIGTERM') };
  });
}
