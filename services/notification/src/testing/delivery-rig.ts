// Runs delivery and jobs on real servers, without the other capabilities, with real senders and with channels that a test configures.
import { createServiceProcessor, jobCollection, type ServiceCapabilities } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, takingAll, type OutgoingRecord } from '@lead-scoring/event-log';
import { createOutbound, parsePrivateTargets } from '@lead-scoring/outbound';
import { createSealing } from '@lead-scoring/service';
import { openServiceRig, type ServiceRig } from '@lead-scoring/testing/service-rig';
import { emptyNotificationConfiguration, type Channel } from '../configuration/state.js';
import { deliveryCapability } from '../delivery/capability.js';
import { systemClock } from '../delivery/clock.js';
import { publishedLimits } from '../delivery/limits.js';
import { deliveryQueries } from '../delivery/queries.js';
import { publishedPolicy, type DeliveryPolicy } from '../delivery/schedule-model.js';
import { createSenders } from '../delivery/senders/senders.js';
import { createSlots } from '../delivery/slots.js';
import { deliveryCollections } from '../delivery/documents.js';
import { notificationJobs } from '../jobs/capability.js';
import { jobQueries } from '../jobs/queries.js';
import { ouId } from './delivery-builders.js';

export interface DeliveryRig extends ServiceRig {
  /** The channels; a test may change them at any time. */
  channels: Map<string, Channel>;
  /** Version of the channels' configuration. */
  configuration: { version: number };
  /** Starts the processor; the function stops it. */
  start(): Promise<() => Promise<void>>;
}

export const sealing = createSealing('a secret of tests that is long enough');
const processorName = 'notification';
const collections = [...deliveryCollections, jobCollection];

export async function startDeliveryRig({
  policy = publishedPolicy,
  targets = [],
}: { policy?: DeliveryPolicy; targets?: string[] } = {}): Promise<DeliveryRig> {
  const rig = await openServiceRig({ service: processorName, collections, ouId });
  const { readModel, logger } = rig;
  await rig.serve([...deliveryQueries(readModel), ...jobQueries(readModel, () => new Date())]);
  const outbound = createOutbound({
    userAgent: 'LeadScoring/1.0',
    allowedPrivateTargets: parsePrivateTargets(targets.join(',')),
  });
  const channels = new Map<string, Channel>();
  const configuration = { version: 0 };
  const configured = (ou: string) => ({
    ...emptyNotificationConfiguration(ou),
    ...configuration,
    channels: new Map([...channels].filter(([, { ou_id }]) => ou_id === ou)),
  });

  const start = () => {
    const options = {
      configurations: {
        load: (ouIds: Iterable<string>) =>
          Promise.resolve(new Map([...ouIds].map((ou) => [ou, configured(ou)]))),
      },
      send: createSenders({
        outbound,
        secrets: sealing,
        shareLinks: null,
        slack: null,
        mail: null,
        timeoutMs: 2_000,
      }),
      slots: createSlots({ maximum: 1_000, forAiling: 200 }),
      writer: rig.writer,
      policy,
      limits: { ...publishedLimits, webhook: { concurrency: 4, perSecond: 1_000, burst: 100 } },
      clock: systemClock,
      logger,
    };
    const delivery = deliveryCapability(options);
    const service: ServiceCapabilities = {
      name: processorName,
      capabilities: [
        delivery,
        notificationJobs({ delivery, configurations: options.configurations, logger }),
      ],
      followers: [],
      inputs: takingAll('notification.commands'),
      collections,
      batching: {},
      storesEventsEnd: false,
      version: 1,
    };
    return rig.run(createServiceProcessor(rig.log, service, { readModel, logger, onFatal: rig.onFatal }));
  };

  return {
    ...rig,
    channels,
    configuration,
    start,
    stop: async () => {
      await rig.stop();
      await outbound.close();
    },
  };
}

/** The command that firing sends. */
export function requestRecord(payload: records.RequestNotification): OutgoingRecord {
  return outgoing(records.requestNotification, { key: payload.channel_id, payload });
}
