// `start.json`: the addresses, the token and the processes of the running system.
import { serverAccessEnvironment } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { writePrivate } from './private-file.js';
import type { StartSettings } from './settings.js';
import type { RunningSystem } from './system.js';
import { messageOf, say } from './terminal.js';

/** The content of `.run/start.json`, for programs that use the running system. */
export interface StartFile {
  api_url: string;
  app_url: string;
  token: string;
  ou_id: string;
  kafka_brokers: string;
  schema_registry_url: string;
  mongodb_uri: string;
  namespace: string;
  partitions: number;
  /** Settings that let programs into the three servers; absent where none are needed. */
  access?: Record<string, string>;
  /** By the name of the process: the service's name; where the service has several processes, `scoring-0`. */
  services: Record<string, { url: string; metrics_url: string; pid: number | null }>;
}

/** Writes `start.json` after each start of a service, once the organisation exists. */
export class StartFileWriter {
  #ouId: string | null = null;
  // Writes run one after the other: services that are restarted together each request one.
  #written: Promise<void> = Promise.resolve();

  constructor(
    private readonly file: string,
    private readonly settings: StartSettings,
    private readonly endpoints: PlatformEndpoints,
  ) {}

  /** Sets the organisation's first unit; before, nothing is written. */
  identify(ouId: string): void {
    this.#ouId = ouId;
  }

  write(system: RunningSystem): Promise<void> {
    this.#written = this.#written.then(async () => {
      if (this.#ouId === null) return;
      await writePrivate(this.file, this.#contentFor(system, this.#ouId)).catch((error: unknown) => {
        say(`start.json could not be written: ${messageOf(error)}`);
      });
    });
    return this.#written;
  }

  #contentFor(system: RunningSystem, ouId: string): StartFile {
    const { settings, endpoints } = this;
    const access = serverAccessEnvironment(process.env);
    return {
      api_url: system.gatewayUrl,
      app_url: process.env.APP_URL ?? system.gatewayUrl,
      token: settings.secrets.bootstrapToken,
      ou_id: ouId,
      kafka_brokers: endpoints.kafkaBrokers.join(','),
      schema_registry_url: endpoints.schemaRegistryUrl,
      mongodb_uri: endpoints.mongodbUri,
      namespace: settings.namespace,
      partitions: settings.partitions,
      ...(Object.keys(access).length > 0 && { access }),
      services: Object.fromEntries(
        system.services.map((service) => [
          service.processName,
          { url: service.url, metrics_url: service.metricsUrl, pid: service.process.pid ?? null },
        ]),
      ),
    };
  }
}
