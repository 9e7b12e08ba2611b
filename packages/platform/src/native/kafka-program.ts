// Kafka's program: its Java libraries, fetched with Maven into the cache.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../commands.js';
import { classArchiveOptions } from './class-archive.js';
import { trainKafka } from './kafka-training.js';
import type { NativeContext } from './native-server.js';

export const KAFKA_VERSION = '4.1.0';
const SCALA_VERSION = '2.13';
const LOG4J_VERSION = '2.24.3';
const MAVEN_DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>lead-scoring</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_${SCALA_VERSION}</artifactId>
      <version>${KAFKA_VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>${LOG4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** Resolves with the class path of Kafka. */
export async function installKafka({ cache, machine, guardian, progress }: NativeContext): Promise<string> {
  const part = await cache.part(`kafka-${KAFKA_VERSION}`, async (directory) => {
    const env = await machine.maven();
    await progress.step(`Kafka ${KAFKA_VERSION}: fetching with Maven`, async () => {
      const pom = join(directory, 'pom.xml');
      writeFileSync(pom, POM);
      await runCommand(
        'mvn',
        [
          '--batch-mode',
          '--quiet',
          '--file',
          pom,
          `${MAVEN_DEPENDENCY_PLUGIN}:copy-dependencies`,
          `-DoutputDirectory=${join(directory, 'lib')}`,
          '-DincludeScope=runtime',
        ],
        { env, guardian },
      );
    });
  });
  return join(part, 'lib', '*');
}

/** The options with which Java uses the archive of Kafka's classes. */
export function kafkaClassArchive(
  context: NativeContext,
  { java, classPath }: { java: string; classPath: string },
): Promise<string[]> {
  return classArchiveOptions(context, {
    name: `kafka-${KAFKA_VERSION}`,
    folder: dirname(classPath),
    java,
    train: (home, javaOptions) => trainKafka(home, { java, classPath, javaOptions }),
  });
}
