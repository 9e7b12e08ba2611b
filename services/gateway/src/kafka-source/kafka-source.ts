// Composes the process of a source: its parts, their order, and the dependencies of each.
import {
  createEventLogComponent,
  createSourceDecoder,
  createSourceMetrics,
  createSourceWriter,
  createTopicSource,
  createWriteAhead,
  type EventLog,
  type TopicSourceStatus,
} from '@lead-scoring/event-log';
import { createReadModelComponent, type ReadModel } from '@lead-scoring/read-model';
import {
  createQueryServer,
  serviceHealthChecks,
  type ComponentScope,
  type ListeningServer,
  type Logger,
} from '@lead-scoring/service';
import { createAuthenticator } from '../credentials/authenticate.js';
import { createCredentialDirectory } from '../credentials/directory.js';
import { createLastUseRecorder, lastUses } from '../credentials/last-use.js';
import { createRevocations } from '../credentials/revocations.js';
import { createDatabaseGate } from '../database-gate.js';
import { sourceClusterOf, sourceRegistryOf, type KafkaSourceConfiguration } from './configuration.js';
import { createSourceCredential, type SourceCredential } from './source-credential.js';
import { SourceIntake } from './source-intake.js';

export interface KafkaSourceDependencies {
  logger: Logger;
  /** Called with an error after which the process cannot go on. */
  onFatal: (error: unknown) => void;
}

const service = 'gateway';
/** Of one partition of the source in one round: some thousands of events. */
const maxBytesPerPartition = 2 * 1024 * 1024;
/** Nobody waits for the answer, and a write that is given up is repeated whole. */
const writeTimeoutMs = 30_000;

/** Starts everything in the scope; the server last, so that the process is reachable when it works. */
export async function openKafkaSource(
  configuration: KafkaSourceConfiguration,
  scope: ComponentScope,
  dependencies: KafkaSourceDependencies,
): Promise<ListeningServer> {
  const { logger } = dependencies;
  const readModel = await scope.start(
    createReadModelComponent(configuration, { service, collections: [lastUses], logger, timeoutMs: 1_500 }),
  );
  const log = await scope.start(createEventLogComponent(configuration, { service, logger }));
  const credential = await startCredential(configuration, scope, { readModel, log, logger });
  const source = await startSource(configuration, scope, { log, credential, ...dependencies });
  const { HOST: host, PORT: port, INTERNAL_SECRET: internalSecret } = configuration;
  const healthChecks = {
    ...serviceHealthChecks(readModel, source),
    credential: async () => {
      await credential.caller();
    },
  };
  return scope.start(createQueryServer({ host, port, routes: [], healthChecks, internalSecret, logger }));
}

async function startCredential(
  { SOURCE_CREDENTIAL }: KafkaSourceConfiguration,
  scope: ComponentScope,
  { readModel, log, logger }: { readModel: ReadModel; log: EventLog; logger: Logger },
): Promise<SourceCredential> {
  const recorder = await scope.start(createLastUseRecorder(readModel, logger));
  const revocations = await scope.start(createRevocations(log, logger));
  const directory = createCredentialDirectory(readModel, createDatabaseGate(), revocations);
  const authenticator = createAuthenticator(directory);
  return scope.start(
    createSourceCredential(SOURCE_CREDENTIAL, { authenticator, lastUses: recorder, logger }),
  );
}

async function startSource(
  configuration: KafkaSourceConfiguration,
  scope: ComponentScope,
  {
    log,
    credential,
    logger,
    onFatal,
  }: KafkaSourceDependencies & { log: EventLog; credential: SourceCredential },
): Promise<TopicSourceStatus> {
  const { SOURCE_FILE: file, SOURCE_MAXIMUM_AHEAD: maximum, NAMESPACE } = configuration;
  const clientId = `${NAMESPACE}-source-${file.name}`;
  const registry = { ...sourceRegistryOf(configuration), clientId };
  const metrics = createSourceMetrics(file.name);
  const writer = await scope.start(createSourceWriter(log, { timeoutMs: writeTimeoutMs }));
  const ahead = await scope.start(
    createWriteAhead(log, { reader: 'ingest', topic: 'ingest.commands', maximum, logger }),
  );
  const intake = new SourceIntake({
    file,
    decoders: {
      value: createSourceDecoder(file.format, registry),
      key: createSourceDecoder(file.key_format, registry),
    },
    credential,
    writer,
    ahead,
    metrics,
    partitionOf: (key) => log.partitionOf(key),
  });
  return scope.start(
    createTopicSource(
      {
        ...sourceClusterOf(configuration),
        clientId,
        topic: file.topic,
        groupId: `${NAMESPACE}.source.${file.name}`,
        startAt: file.start_at,
      },
      {
        logger,
        metrics,
        maxBytesPerPartition,
        onFatal,
        take: (batches, signal) => intake.take(batches, signal),
      },
    ),
  );
}
