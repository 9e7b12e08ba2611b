// The share service in this process on real servers: commands and scoring's events come through the log, reads through the
// query port, and the test sets the clock.
import { records as declarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { createServiceProcessor } from '@lead-scoring/capability';
import { outgoing, type OutgoingRecord, type RecordPosition } from '@lead-scoring/event-log';
import { createExplanationReader } from '@lead-scoring/explanations';
import { type ConfigurationEvent, configurationRecords } from '@lead-scoring/scoring-domain';
import { renderPreviewImage } from '@lead-scoring/share-page/preview';
import { openServiceRig, type Answer, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { createCatchingUp } from '../catching-up.js';
import { shareCollections } from '../collections.js';
import { explanationsName } from '../explanation/capability.js';
import { createFindLeads } from '../explanation/find-leads.js';
import type { ShareCommand } from '../links/messages.js';
import { shareQueries } from '../queries.js';
import { shareService } from '../service.js';
import { ouId } from './builders.js';

export type ScoringEvent =
  | { type: 'LeadScored'; payload: declarations.LeadScored }
  | { type: 'ScoreAdjusted'; payload: declarations.ScoreAdjusted }
  | { type: 'LeadRemoved'; payload: declarations.LeadRemoved }
  | { type: 'LeadContributed'; payload: declarations.LeadContributed }
  | { type: 'AccountScored'; payload: declarations.AccountScored }
  | ConfigurationEvent;

export interface Rig extends Omit<ServiceRig, 'request' | 'get'> {
  /** The service's clock. */
  clock: { now: Date };
  /** Writes events to scoring's topic. */
  append: (events: readonly ScoringEvent[]) => Promise<RecordPosition[]>;
  /** Writes events to scoring's topic; resolves when they are folded. */
  scored: (events: readonly ScoringEvent[]) => Promise<void>;
  request: (command: ShareCommand) => Promise<declarations.CommandReplied>;
  get: (path: string, options?: { ou?: string; accept?: string }) => Promise<Answer>;
}

const scoringDeclarations = {
  ...configurationRecords,
  LeadScored: declarations.leadScored,
  ScoreAdjusted: declarations.scoreAdjusted,
  LeadRemoved: declarations.leadRemoved,
  LeadContributed: declarations.leadContributed,
  AccountScored: declarations.accountScored,
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
      explanations: createExplanationReader(readModel, explanationsName),
      catchingUp: createCatchingUp(readModel, log, { timeoutMs: catchingUpMs }),
      appUrl: 'https://app.example.com',
      now: () => clock.now,
      paintPreview: renderPreviewImage,
    }),
  );
  const service = shareService({
    findLeads: createFindLeads(readModel, log, { timeoutMs: findLeadsTimeoutMs }),
    cachedLeads: 100,
  });
  await rig.run(createServiceProcessor(log, service, { readModel, logger, onFatal }));

  return {
    ...rig,
    clock,
    append: (events) => rig.write(events.map(scoringRecord)),
    scored: (events) => rig.deliver(explanationsName, events.map(scoringRecord)),
    request: ({ type, payload }) => {
      const declaration: RecordDeclaration =
        type === 'CreateShare' ? declarations.createShare : declarations.revokeShare;
      return rig.request({ declaration, key: payload.share_id, payload });
    },
    get: (path, { accept, ...options } = {}) =>
      rig.get(path, { ...options, ...(accept !== undefined && { headers: { accept } }) }),
  };
}

function scoringRecord(event: ScoringEvent): OutgoingRecord {
  const declaration: RecordDeclaration = scoringDeclarations[event.type];
  return outgoing(declaration, { key: keyOf(event), payload: event.payload });
}

function keyOf({ type, payload }: ScoringEvent): string {
  if (type === 'AccountScored') return payload.account_id;
  return 'lead_id' in payload ? payload.lead_id : payload.ou_id;
}
