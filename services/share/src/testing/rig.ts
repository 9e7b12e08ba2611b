// The share service in this process on real servers: commands and scoring's events in through the log, reads through the
// query port, by a clock that the test sets.
import {
  configurationRecords,
  records as declarations,
  type ConfigurationEvent,
  type RecordDeclaration,
} from '@lead-scoring/contracts';
import { createServiceProcessor } from '@lead-scoring/capability';
import { createProjector, outgoing, type OutgoingRecord, type RecordPosition } from '@lead-scoring/event-log';
import {
  createExplanationReader,
  explanationInputs,
  openExplanationPartition,
} from '@lead-scoring/explanations';
import { underLease } from '@lead-scoring/read-model';
import { renderPreviewImage } from '@lead-scoring/share-page/preview';
import { openServiceRig, type Answer, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { createCatchingUp } from '../catching-up.js';
import { shareCollections } from '../collections.js';
import { createFindLeads, projectorName } from '../explanation/find-leads.js';
import type { ShareCommand } from '../links/messages.js';
import { shareQueries } from '../queries.js';
import { beginRebuild, createEndOf, rebuilds } from '../rebuilds.js';
import { shareService } from '../service.js';
import { ouId } from './builders.js';

export type ScoringEvent =
  | { type: 'LeadScored'; payload: declarations.LeadScored }
  | { type: 'LeadRemoved'; payload: declarations.LeadRemoved }
  | ConfigurationEvent;

export interface Rig extends Omit<ServiceRig, 'request' | 'get'> {
  /** What the service takes for the time. */
  clock: { now: Date };
  /** Starts the projection of scoring's events; the function stops it. */
  startProjector: () => Promise<() => Promise<void>>;
  /** Writes what scoring would have appended. */
  append: (events: readonly ScoringEvent[]) => Promise<RecordPosition[]>;
  /** Writes it, and resolves when it is folded. */
  scored: (events: readonly ScoringEvent[]) => Promise<void>;
  request: (command: ShareCommand) => Promise<declarations.CommandReplied>;
  get: (path: string, options?: { ou?: string; accept?: string }) => Promise<Answer>;
}

const scoringDeclarations = {
  ...configurationRecords,
  LeadScored: declarations.leadScored,
  LeadRemoved: declarations.leadRemoved,
};

export async function startRig({
  partitions = 3,
  findLeadsTimeoutMs = 10_000,
  catchingUpMs = 10_000,
} = {}): Promise<Rig> {
  const rig = await openServiceRig({
    service: 'share',
    collections: shareCollections,
    ouId,
    partitions,
  });
  const { log, readModel, logger, onFatal } = rig;
  const clock = { now: new Date('2026-01-01T12:00:00.000Z') };
  await rig.serve(
    shareQueries({
      readModel,
      explanations: createExplanationReader(readModel, projectorName),
      catchingUp: createCatchingUp(readModel, log, { timeoutMs: catchingUpMs }),
      appUrl: 'https://app.example.com',
      now: () => clock.now,
      paintPreview: renderPreviewImage,
    }),
  );
  const endOf = createEndOf(log);

  const startProjector = () =>
    rig.run(
      createProjector(log, {
        name: projectorName,
        inputs: explanationInputs,
        rebuildsWith: 'share',
        open: (partition, _touch, lease) =>
          Promise.resolve(
            openExplanationPartition(underLease(readModel, lease), partition, {
              projectorName,
              cachedLeads: 100,
              beforeReset: () =>
                beginRebuild(readModel, { name: projectorName, partition, topic: 'scoring.events' }, endOf),
            }),
          ),
        logger,
        onFatal,
      }),
    );

  const findLeads = createFindLeads(readModel, log, { timeoutMs: findLeadsTimeoutMs });
  await rig.run(
    createServiceProcessor(log, shareService({ findLeads, endOf }), { readModel, logger, onFatal }),
  );
  await startProjector();

  return {
    ...rig,
    clock,
    startProjector,
    append: (events) => rig.write(events.map(scoringRecord)),
    scored: (events) => rig.deliver(projectorName, events.map(scoringRecord)),
    request: ({ type, payload }) => {
      const declaration: RecordDeclaration =
        type === 'CreateShare' ? declarations.createShare : declarations.revokeShare;
      return rig.request({ declaration, key: payload.share_id, payload });
    },
    get: (path, { accept, ...options } = {}) =>
      rig.get(path, { ...options, ...(accept !== undefined && { headers: { accept } }) }),
    // When a rebuild began, and where its log ended then, differs from one to the next.
    documents: (of = shareCollections.filter(({ name }) => name !== rebuilds.name)) => rig.documents(of),
  };
}

function scoringRecord(event: ScoringEvent): OutgoingRecord {
  const declaration: RecordDeclaration = scoringDeclarations[event.type];
  const key = 'lead_id' in event.payload ? event.payload.lead_id : event.payload.ou_id;
  return outgoing(declaration, { key, payload: event.payload });
}
