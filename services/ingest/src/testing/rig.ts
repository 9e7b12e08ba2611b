// The ingest service in this process on real servers: commands in through the log, reads through the query port.
import { encodePosition, records as declarations } from '@lead-scoring/contracts';
import { createProcessor, listLag, outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { underLease } from '@lead-scoring/read-model';
import { eventually, openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import type { IntakeCommand } from '../intake/events.js';
import { ingestInputs } from '../inputs.js';
import { ingestCollections, openPartition, processorName } from '../partition-state.js';
import { ingestQueries } from '../queries.js';
import { ouId } from './builders.js';

export interface Rig extends Omit<ServiceRig, 'request'> {
  /** Another processor of the same group; resolves when it runs, and stops when the function is called. */
  startProcessor: () => Promise<() => Promise<void>>;
  /** Writes the commands, each event to the partition of its lead, and answers the position as a 202 has it. */
  send: (commands: IntakeCommand[]) => Promise<string>;
  /** Sends the commands, and resolves when all of their events are taken, forwarded ones included. */
  take: (commands: IntakeCommand[]) => Promise<void>;
  /** Sends the command, and resolves with its reply. */
  request: (command: Extract<IntakeCommand, { type: 'DeleteLead' }>) => Promise<declarations.CommandReplied>;
}

export async function startRig({ partitions = 3, processors = 1, aliasShare = Infinity } = {}): Promise<Rig> {
  const rig = await openServiceRig({
    service: processorName,
    collections: ingestCollections,
    ouId,
    partitions,
  });
  const { log, readModel, logger, onFatal } = rig;
  await rig.serve(ingestQueries(readModel, { partitions, positionTimeoutMs: 2_000 }));

  const startProcessor = () =>
    rig.run(
      createProcessor(log, {
        name: processorName,
        inputs: ingestInputs,
        output: 'ingest.events',
        open: (partition, _touch, lease) =>
          openPartition(underLease(readModel, lease), partition, { aliasShare }),
        logger,
        onFatal,
      }),
    );

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
    request: ({ payload }) =>
      rig.request(outgoing(declarations.deleteLead, { key: payload.lead_id, payload })),
    take: async (commands) => {
      await rig.deliver(processorName, commands.flatMap(recordsOf));
      // What is forwarded is written in the transaction that commits its cause, and has a marker behind it that is passed
      // over: no lag but that, nothing under way.
      await eventually('all events are taken', async () => {
        const lags = await listLag(log, processorName);
        return lags.length > 0 && lags.every(({ topic, lag }) => topic !== 'ingest.commands' || lag <= 1n);
      });
    },
  };
}

/** One record per event: leads of one command may be of several partitions. */
function recordsOf({ type, payload }: IntakeCommand): OutgoingRecord[] {
  switch (type) {
    case 'IngestEvents':
      return payload.events.map((event) =>
        outgoing(declarations.ingestEvents, { key: event.lead_id, payload: { ...payload, events: [event] } }),
      );
    case 'LinkAlias':
      return [outgoing(declarations.linkAlias, { key: payload.alias_lead_id, payload })];
    case 'DeleteLead':
      return [outgoing(declarations.deleteLead, { key: payload.lead_id, payload })];
    case 'UnlinkAlias':
      return [outgoing(declarations.unlinkAlias, { key: payload.alias_lead_id, payload })];
    case 'RememberEvents':
      return [outgoing(declarations.rememberEvents, { key: payload.lead_id, payload })];
  }
}
