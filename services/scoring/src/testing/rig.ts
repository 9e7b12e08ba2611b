// The scoring service in this process on real servers: commands and what ingest appends in through the log, reads
// through the query port.
import { records as declarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { createProcessor, outgoing } from '@lead-scoring/event-log';
import { underLease } from '@lead-scoring/read-model';
import { openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import type { ConfigurationCommand } from '../configuration/events.js';
import { createConfigurationReader } from '../configuration/store.js';
import { scoringInputs } from '../inputs.js';
import { openPartition, processorName, scoringCollections } from '../partition-state.js';
import { scoringQueries } from '../queries.js';
import { ouId } from './builders.js';

export interface Rig extends Omit<ServiceRig, 'request'> {
  /** Another processor of the same group; resolves when it runs, and stops when the function is called. */
  startProcessor: () => Promise<() => Promise<void>>;
  /** Writes what ingest would have appended, and resolves when it is scored. */
  score: (happened: (declarations.EventsIngested | declarations.LeadDeleted)[]) => Promise<void>;
  request: (command: ConfigurationCommand) => Promise<declarations.CommandReplied>;
}

const commands = {
  CreateRuleset: 'createRuleset',
  UpdateRuleset: 'updateRuleset',
  CreateRule: 'createRule',
  SetRulesActive: 'setRulesActive',
  SetEngagementLevels: 'setEngagementLevels',
} as const;

export async function startRig({ partitions = 3, processors = 1 } = {}): Promise<Rig> {
  const rig = await openServiceRig({
    service: processorName,
    collections: scoringCollections,
    ouId,
    partitions,
  });
  const { log, readModel, logger, onFatal } = rig;
  await rig.serve(
    scoringQueries(readModel, createConfigurationReader(readModel), { positionTimeoutMs: 2_000 }),
  );

  const startProcessor = () => {
    const configurations = createConfigurationReader(readModel);
    return rig.run(
      createProcessor(log, {
        name: processorName,
        inputs: scoringInputs,
        output: 'scoring.events',
        open: (partition, _touch, lease) =>
          Promise.resolve(
            openPartition(underLease(readModel, lease), partition, { configurations, cachedLeads: 1_000 }),
          ),
        logger,
        onFatal,
      }),
    );
  };

  for (let index = 0; index < processors; index += 1) await startProcessor();

  return {
    ...rig,
    startProcessor,
    score: (happened) =>
      rig.deliver(
        processorName,
        happened.map((payload) =>
          'events' in payload
            ? outgoing(declarations.eventsIngested, { key: payload.lead_id, payload })
            : outgoing(declarations.leadDeleted, { key: payload.lead_id, payload }),
        ),
      ),
    request: ({ type, payload }) => {
      const declaration: RecordDeclaration = declarations[commands[type]];
      return rig.request({ declaration, key: payload.ou_id, payload });
    },
  };
}
