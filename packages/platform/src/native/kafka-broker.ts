// One native Kafka broker: its data, its configuration, its process.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../commands.js';
import type { BrokerControl } from '../endpoints.js';
import type { ProcessHandle } from '../processes.js';
import { verifyBroker, verifyListening } from '../readiness.js';
import { waitUntil } from '../waiting.js';
import { scramUsers } from './guarded-kafka.js';
import { brokerProperties, type BrokerSettings } from './kafka-properties.js';
import type { ServerHome } from './class-archive.js';

const LOGGING_PROPERTIES = `status=error
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
`;

/**
 * A native broker runs for minutes and shares few cores: the optimising compiler and a garbage collector with threads of its own
 * would cost more processor time than they save. Measured under load: 7 µs of broker time per event in place of 16.
 */
function jvmOptions(brokers: number): string[] {
  const heap = brokers === 1 ? ['-Xms256m', '-Xmx768m'] : ['-Xms128m', '-Xmx384m'];
  return [...heap, '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
}

/** The settings that all brokers of a cluster share. */
export interface KafkaCluster {
  /** The program `java`. */
  java: string;
  classPath: string;
  /** Further options of Java, of each broker. */
  javaOptions: readonly string[];
  clusterId: string;
  controllerPorts: readonly number[];
  guarded?: BrokerSettings['guarded'];
  proxied?: BrokerSettings['proxied'];
}

export class NativeBroker {
  readonly address: string;
  readonly #folder: string;
  readonly #data: string;
  readonly #loggingFile: string;

  constructor(
    private readonly home: ServerHome,
    private readonly cluster: KafkaCluster,
    private readonly id: number,
    private readonly port: number,
  ) {
    this.address = `127.0.0.1:${port}`;
    this.#folder = join(home.directory.path, 'kafka', `broker-${id}`);
    this.#data = join(this.#folder, 'data');
    this.#loggingFile = join(this.#folder, 'log4j2.properties');
  }

  /**
   * Makes the broker's data if it has none, and starts its process.
   *
   * @throws Error when it does not come up
   */
  async start(): Promise<ProcessHandle> {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#loggingFile, LOGGING_PROPERTIES);
    if (!existsSync(this.#data)) {
      await this.#format();
    }
    const { java, javaOptions, controllerPorts } = this.cluster;
    return this.home.supervise({
      name: `kafka-${this.id}`,
      command: java,
      args: [
        ...jvmOptions(controllerPorts.length),
        ...javaOptions,
        ...this.#classOptions(),
        'kafka.Kafka',
        this.#configure(this.#data),
      ],
      // Reports a broker that dies during its start at once; `startKafka` then waits for the whole cluster.
      ready: () => verifyListening(this.address),
    });
  }

  /** The controls of the running broker, for fault tests. */
  controlOf(handle: ProcessHandle): BrokerControl {
    const { id, address } = this;
    return {
      id,
      address,
      stop: (signal = 'SIGTERM') => handle.stop(signal),
      async start() {
        await handle.start();
        await waitUntil(() => verifyBroker(address, id), {
          description: `broker ${id} did not come back`,
          timeoutMs: 60_000,
        });
      },
      pause: () => handle.kill('SIGSTOP'),
      resume: () => handle.kill('SIGCONT'),
    };
  }

  async #format(): Promise<void> {
    const { java, clusterId, guarded } = this.cluster;
    // Under another name until it is complete, so that an interrupted start is not taken for a broker's data.
    const unfinished = `${this.#data}.formatting`;
    rmSync(unfinished, { recursive: true, force: true });
    await runCommand(
      java,
      [
        '-Xmx256m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        ...this.#classOptions(),
        'kafka.tools.StorageTool',
        'format',
        '--cluster-id',
        clusterId,
        '--config',
        this.#configure(unfinished),
        ...scramUsers(guarded?.listeners),
      ],
      { guardian: this.home.guardian },
    );
    renameSync(unfinished, this.#data);
  }

  #classOptions(): string[] {
    return [`-Dlog4j2.configurationFile=${this.#loggingFile}`, '-cp', this.cluster.classPath];
  }

  /** Writes the properties file and returns its path. */
  #configure(logDirectory: string): string {
    const { controllerPorts, guarded, proxied } = this.cluster;
    const { id, port } = this;
    const file = join(this.#folder, 'server.properties');
    const properties = brokerProperties({
      id,
      port,
      controllerPorts,
      logDirectory,
      ...(guarded && { guarded }),
      ...(proxied && { proxied }),
    });
    writeFileSync(file, properties, { mode: 0o600 });
    return file;
  }
}
