// The ingest service in this process on real servers: commands in through the log, reads through the query port.
import { encodePosition, records as declarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { createServiceProcessor } from '@lead-scoring/capability';
import { listLag, outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { problem, type AskedService, type Logger } from '@lead-scoring/service';
import { eventually, openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import type { SettingsCommand } from '../event-type-settings/messages.js';
import { leadFileCollections } from '../lead-imports/documents.js';
import { intakeCommands, type IntakeCommand } from '../intake/messages.js';
import { ingestQueries } from '../queries.js';
import { ingestService } from '../service.js';
import { ouId, serviceOptions } from './builders.js';

export interface Rig extends Omit<ServiceRig, 'request'> {
  /** Another processor of the same group; resolves when it runs, and stops when the function is called. */
  startProcessor: () => Promise<() => Promise<void>>;
  /** Writes the commands, each event to the partition of its lead, and resolves with the position as in a 202. */
  send: (commands: IntakeCommand[]) => Promise<string>;
  /** Sends the commands, and resolves when all of their events are processed, forwarded ones included. */
  take: (commands: IntakeCommand[]) => Promise<void>;
  /** Sends any command, and resolves with its reply. */
  ask: ServiceRig['request'];
  /** Sends the command, and resolves with its reply. */
  request: (
    command: Extract<IntakeCommand, { type: 'DeleteLead' }> | SettingsCommand,
  ) => Promise<declarations.CommandReplied>;
}

export interface RigOptions {
  partitions?: number;
  processors?: number;
  aliasShare?: number;
  /** Default: as the API says. */
  listedTypes?: number;
  /** Types that a step of a backfill keeps in memory; default: as in production. */
  typesPerStep?: number;
  /** What scoring answers to questions; default: it is away. */
  scoring?: AskedService;
  /** The read model of the queries; default: the processors' own. */
  reads?: (own: ReadModel, logger: Logger) => Promise<ReadModel>;
}

const away: AskedService = {
  ask: () => Promise.reject(problem('service_unavailable', 'scoring is not part of this test')),
};

export async function startRig({
  partitions = 3,
  processors = 1,
  aliasShare = Infinity,
  listedTypes,
  typesPerStep,
  scoring = away,
  reads = (own) => Promise.resolve(own),
}: RigOptions = {}): Promise<Rig> {
  const service = ingestService({
    ...serviceOptions,
    jobs: {
      ...serviceOptions.jobs,
      writer: { write: (sent) => rig.writer.write(sent) },
      eventTypeBackfill: {
        log: () => rig.log,
        now: () => new Date(),
        ...(typesPerStep !== undefined && { typesPerStep }),
      },
      leadImport: { log: () => rig.log, now: () => new Date() },
    },
    aliasShare,
    ...(listedTypes !== undefined && { listedTypes }),
  });
  const rig: ServiceRig = await openServiceRig({
    service: 'ingest',
    collections: [...service.collections, ...leadFileCollections],
    ouId,
    partitions,
  });
  const { log, readModel, logger, onFatal } = rig;
  const read = { ...(await reads(readModel, logger)), editions: readModel.editions };
  await rig.serve(ingestQueries(read, { partitions, positionTimeoutMs: 5_000, scoring }));

  const startProcessor = () => rig.run(createServiceProcessor(log, service, { readModel, logger, onFatal }));

  async function send(commands: IntakeCommand[]): Promise<string> {
    const last = new Map<number, bigint>();
    for (const { partition, offset } of await rig.write(commands.flatMap(recordsOf)))
      if (offset >= (last.get(partition) ?? 0n)) last.set(partition, offset);
    return encodePosition(last);
  }

  for (let index = 0; index < processors; index += 1) await startProcessor();

  return {
    ...rig,
    startProcessor,
    send,
    ask: rig.request,
    request: ({ type, payload }) =>
      rig.request(
        type === 'DeleteLead'
          ? outgoing(declarations.deleteLead, { key: payload.lead_id, payload })
          : outgoing(declarations.setEventTypeHidden, { key: payload.ou_id, payload }),
      ),
    take: async (commands) => {
      await rig.deliver('ingest', commands.flatMap(recordsOf));
      // A forwarded event is written in the transaction that commits its cause, with a commit marker after it: when the lag is only
      // that marker, all is processed.
      await eventually('all events are processed', async () => {
        const lags = await listLag(log, 'ingest');
        return lags.length > 0 && lags.every(({ topic, lag }) => topic !== 'ingest.commands' || lag <= 1n);
      });
    },
  };
}

/** One record per event, because the leads of one command may be in several partitions. */
function recordsOf({ type, payload }: IntakeCommand): OutgoingRecord[] {
  if (type === 'IngestEvents')
    return payload.events.map((event) =>
      outgoing(declarations.ingestEvents, { key: event.lead_id, payload: { ...payload, events: [event] } }),
    );
  const declaration: RecordDeclaration = intakeCommands[type];
  return [
    outgoing(declaration, {
      key: 'alias_lead_id' in payload ? payload.alias_lead_id : payload.lead_id,
      payload,
    }),
  ];
}
