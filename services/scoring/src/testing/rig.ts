// The scoring service in this process on real servers: commands and what ingest appends in through the log, reads
// through the query port.
import { createServiceProcessor } from '@lead-scoring/capability';
import { records as declarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { scoringConfiguration } from '../configuration/capability.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { createPublishedConfigurations } from '../configuration/published.js';
import { scoringQueries } from '../queries.js';
import { scoringService } from '../service.js';
import { ouId } from './builders.js';

export interface Rig extends Omit<ServiceRig, 'request'> {
  /** Another processor of the same group; resolves when it runs, and stops when the function is called. */
  startProcessor: () => Promise<() => Promise<void>>;
  /** Writes what ingest would have appended, and resolves when it is scored. */
  score: (happened: (declarations.EventsIngested | declarations.LeadDeleted)[]) => Promise<void>;
  request: (command: ConfigurationCommand) => Promise<declarations.CommandReplied>;
}

/** The service as a process of its own has it. */
export function serviceOn(readModel: ReadModel, { cachedLeads = 1_000, maximumMatches = 200_000 } = {}) {
  const configurations = createPublishedConfigurations(readModel);
  return scoringService({ cachedLeads, maximumMatches, configurations: () => configurations });
}

export async function startRig({ partitions = 3, processors = 1 } = {}): Promise<Rig> {
  const rig = await openScoringRig({ partitions });
  const { log, readModel, logger, onFatal } = rig;
  await rig.serve(
    scoringQueries(readModel, createPublishedConfigurations(readModel), { positionTimeoutMs: 2_000 }),
  );

  const startProcessor = () =>
    rig.run(createServiceProcessor(log, serviceOn(readModel), { readModel, logger, onFatal }));

  for (let index = 0; index < processors; index += 1) await startProcessor();

  return {
    ...rig,
    startProcessor,
    score: (happened) => rig.deliver('scoring', happened.map(ingestRecord)),
    request: (command) => rig.request(commandRecord(command)),
  };
}

/** Real servers with the service's collections; nothing runs. */
export function openScoringRig({ partitions }: { partitions: number }): Promise<ServiceRig> {
  const { collections } = scoringService({
    cachedLeads: 1,
    configurations: () => {
      throw new Error('nothing is read before the collections are there');
    },
  });
  return openServiceRig({ service: 'scoring', collections, ouId, partitions });
}

export function ingestRecord(payload: declarations.EventsIngested | declarations.LeadDeleted) {
  return 'events' in payload
    ? outgoing(declarations.eventsIngested, { key: payload.lead_id, payload })
    : outgoing(declarations.leadDeleted, { key: payload.lead_id, payload });
}

export function commandRecord({ type, payload }: ConfigurationCommand) {
  const declaration: RecordDeclaration = scoringConfiguration.commands[type];
  return outgoing(declaration, { key: payload.ou_id, payload });
}
