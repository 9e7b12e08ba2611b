// Runs the whole notification service in this process on real servers: commands and events go in through the log, queries through
// the query port, and senders may reach the receivers of a test.
import { createServiceProcessor, type ServiceCapabilities } from '@lead-scoring/capability';
import type { OutgoingRecord } from '@lead-scoring/event-log';
import { createOutbound, parsePrivateTargets } from '@lead-scoring/outbound';
import { createSealing, type Sealing } from '@lead-scoring/service';
import { openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { createDestinationCheck } from '../configuration/destinations.js';
import { systemClock } from '../delivery/clock.js';
import { publishedLimits } from '../delivery/limits.js';
import { publishedPolicy } from '../delivery/schedule-model.js';
import { createSenders } from '../delivery/senders/senders.js';
import { createSlots } from '../delivery/slots.js';
import type { MailSettings } from '../delivery/senders/email.js';
import type { SlackSettings } from '../delivery/senders/slack.js';
import { createExplanations } from '../explanations/reader.js';
import { createTriggerReader } from '../firing/trigger-reader.js';
import { notificationQueries } from '../queries.js';
import { createReaders } from '../readers.js';
import { notificationCollections, notificationService } from '../service.js';
import { createShareLinks, type ShareLinks } from '../share-links.js';
import { ouId } from './builders.js';

export interface Rig extends ServiceRig {
  sealing: Sealing;
  shareLinks: ShareLinks | null;
  /** The service that the rig's processor runs. */
  service: ServiceCapabilities;
  /** Writes records of scoring or ingest, and resolves when firing has decided on them. */
  happen(...events: OutgoingRecord[]): Promise<void>;
}

/** @param targets addresses of receivers, in the form of ALLOW_PRIVATE_TARGETS */
export async function startRig({
  partitions = 3,
  targets = [],
  appUrl,
  slack = null,
  mail = null,
  secrets = 'a secret of tests that is long enough',
}: {
  partitions?: number;
  targets?: string[];
  appUrl?: string;
  slack?: SlackSettings | null;
  mail?: MailSettings | null;
  secrets?: Parameters<typeof createSealing>[0];
} = {}): Promise<Rig> {
  const rig = await openServiceRig({
    service: 'notification',
    collections: notificationCollections,
    ouId,
    partitions,
  });
  const { log, readModel, logger, onFatal } = rig;
  const sealing = createSealing(secrets);
  const shareLinks = createShareLinks(sealing, appUrl);
  const outbound = createOutbound({
    userAgent: 'LeadScoring-Notifications/1.0',
    allowedPrivateTargets: parsePrivateTargets(targets.join(',')),
  });
  const readers = createReaders(readModel, log, { timeoutMs: 10_000 });
  const { configurations, scoring, catchUp } = readers;
  await rig.serve(notificationQueries({ readModel, log, ...readers, now: () => new Date() }));
  const service = notificationService({
    sealing,
    cachedLeads: 100,
    configuration: {
      destinations: createDestinationCheck(outbound, sealing, { slack: false, email: true }),
      scoring,
    },
    firing: {
      triggers: createTriggerReader(configurations, scoring),
      explanations: createExplanations(readModel, catchUp, { timeoutMs: 10_000 }),
      shareLinks,
    },
    delivery: {
      configurations,
      send: createSenders({ outbound, secrets: sealing, shareLinks, slack, mail, timeoutMs: 2_000 }),
      slots: createSlots({ maximum: 100, forAiling: 50 }),
      writer: rig.writer,
      policy: publishedPolicy,
      limits: publishedLimits,
      clock: systemClock,
      logger,
    },
  });
  await rig.run(
    createServiceProcessor(log, service, {
      readModel,
      commandsTo: ['share.commands'],
      logger,
      onFatal,
    }),
  );
  return {
    ...rig,
    sealing,
    shareLinks,
    service,
    happen: (...events) => rig.deliver('notification', events),
    documents: async (of) => {
      // The explanations are folded later than firing decides.
      if (!(await catchUp())) throw new Error('the explanations were not folded in time');
      return rig.documents(of);
    },
    stop: async () => {
      await rig.stop();
      await outbound.close();
    },
  };
}
