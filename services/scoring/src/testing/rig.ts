// The scoring service in this process on real servers: commands and ingest's events come through the log, reads through the query
// port.
import { createServiceProcessor } from '@lead-scoring/capability';
import { paintPicture } from '@lead-scoring/charts/painting';
import { records as declarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { outgoing, type EventLog, type RecordWriter } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { configurationCommands } from '../configuration/capability.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { createPublishedConfigurations } from '../configuration/published.js';
import { performHere } from '../jobs/replay-tasks.js';
import { scoringQueries } from '../queries.js';
import { scoringService } from '../service.js';
import { ouId } from './builders.js';
import { startIngestStandIn, type IngestStandIn } from './ingest-stand-in.js';

export interface Rig extends Omit<ServiceRig, 'request'> {
  ingest: IngestStandIn;
  /** Starts another processor of the same group; resolves when it is ready, with the function that stops it. */
  startProcessor: () => Promise<() => Promise<void>>;
  /** Writes ingest's events; resolves when they are scored. */
  score: (happened: IngestEvent[]) => Promise<void>;
  /** Writes any command, and resolves with its reply. */
  ask: ServiceRig['request'];
  request: (command: ConfigurationCommand) => Promise<declarations.CommandReplied>;
  reset: (command: declarations.ResetScores) => Promise<declarations.CommandReplied>;
}

/** Due leads are looked for often, and no tick waits for events of before it. */
const timing = { lookEveryMs: 50, settleMs: 0 };

/** The service with its published configurations, as in a process. */
export function serviceOn(
  readModel: ReadModel,
  {
    cachedLeads = 1_000,
    maximumMatches = 200_000,
    partitions = 1,
    now = () => new Date(),
    writer = noWriter,
    log = noLog,
    leadsPerStep,
    maximumTail,
  }: {
    cachedLeads?: number;
    maximumMatches?: number;
    partitions?: number;
    now?: () => Date;
    writer?: Pick<RecordWriter, 'write'>;
    log?: () => EventLog;
    leadsPerStep?: number;
    maximumTail?: number | undefined;
  } = {},
) {
  const configurations = createPublishedConfigurations(readModel);
  return scoringService({
    cachedLeads,
    maximumMatches,
    configurations: () => configurations,
    partitions,
    decay: { writer, now, onError: rethrow, timing },
    jobs: { log, writer, leadsPerStep, maximumTail, tasks: performHere(log), onStepError: rethrow },
    challengers: { onError: rethrow, lookEveryMs: timing.lookEveryMs, restFactor: 0 },
  });
}

/** For tests in which nothing is due. */
const noWriter: Pick<RecordWriter, 'write'> = {
  write: () => Promise.reject(new Error('the test has no writer')),
};

/** For tests without jobs. */
const noLog = (): EventLog => {
  throw new Error('the test has no log');
};

function rethrow(error: unknown): never {
  throw error;
}

export async function startRig({
  partitions = 3,
  processors = 1,
  now = () => new Date(),
  leadsPerStep = 1_000,
  maximumTail,
}: {
  partitions?: number;
  processors?: number;
  now?: () => Date;
  leadsPerStep?: number;
  maximumTail?: number;
} = {}): Promise<Rig> {
  const rig = await openScoringRig({ partitions });
  const { log, readModel, logger, onFatal, writer } = rig;
  const ingest = await startIngestStandIn();
  await rig.serve(
    scoringQueries(readModel, createPublishedConfigurations(readModel), {
      positionTimeoutMs: 5_000,
      ingest: ingest.port,
      paintPicture,
    }),
  );

  const startProcessor = () =>
    rig.run(
      createServiceProcessor(
        log,
        serviceOn(readModel, { partitions, writer, now, log: () => log, leadsPerStep, maximumTail }),
        {
          readModel,
          logger,
          onFatal,
        },
      ),
    );

  for (let index = 0; index < processors; index += 1) await startProcessor();

  return {
    ...rig,
    ingest,
    stop: async () => {
      await rig.stop();
      await ingest.stop();
    },
    startProcessor,
    documents: async (of) => {
      await rig.written();
      return rig.documents(of);
    },
    score: (happened) => rig.deliver('scoring', happened.map(ingestRecord)),
    ask: rig.request,
    request: (command) => rig.request(commandRecord(command)),
    reset: (payload) => rig.request(outgoing(declarations.resetScores, { key: payload.lead_id, payload })),
  };
}

/** Opens a rig with the service's collections, without a processor. */
export function openScoringRig({ partitions }: { partitions: number }): Promise<ServiceRig> {
  const unopened = () => {
    throw new Error('the service is used before the collections exist');
  };
  const { collections } = scoringService({
    cachedLeads: 1,
    configurations: unopened,
    partitions,
    decay: { writer: { write: unopened }, now: unopened, onError: unopened },
    jobs: {
      log: unopened,
      writer: { write: unopened },
      tasks: performHere(unopened),
      onStepError: unopened,
    },
    challengers: { onError: unopened },
  });
  return openServiceRig({ service: 'scoring', collections, ouId, partitions });
}

/** What scoring decides on. */
type IngestEvent = declarations.EventsIngested | declarations.LeadMetadataPatched | declarations.LeadDeleted;

export function ingestRecord(payload: IngestEvent) {
  if ('metadata' in payload)
    return outgoing(declarations.leadMetadataPatched, { key: payload.lead_id, payload });
  return 'events' in payload
    ? outgoing(declarations.eventsIngested, { key: payload.lead_id, payload })
    : outgoing(declarations.leadDeleted, { key: payload.lead_id, payload });
}

export function commandRecord({ type, payload }: ConfigurationCommand) {
  const declaration: RecordDeclaration = configurationCommands[type];
  return outgoing(declaration, { key: payload.ou_id, payload });
}
