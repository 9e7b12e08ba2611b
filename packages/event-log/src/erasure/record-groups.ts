// What each type of record means for an erasure.
import { recordsOf, records as declarations, type TopicName } from '@lead-scoring/contracts';

/** Topics that are rewritten. Those of the gateway, of shares and of analyses name leads by their ids at most. */
export const erasedTopics = [
  'ingest.events',
  'scoring.events',
  'notification.events',
] as const satisfies readonly TopicName[];

/** Topics of whose records those of an ended organizational unit are erased. The gateway's has the units and credentials themselves. */
export const unitTopics = [
  ...erasedTopics,
  'share.events',
  'site-analysis.events',
] as const satisfies readonly TopicName[];

export type ErasedTopic = (typeof unitTopics)[number];

/**
 * Records keyed by a lead or an account that stay: what says that it was deleted, so that a database restored from a backup forgets it too;
 * the ids of events that were counted, so that they are not counted again; and counts of a producer's batches and events.
 */
const kept: ReadonlySet<string> = new Set([
  declarations.leadDeleted.type,
  declarations.leadDivided.type,
  declarations.eventsRemembered.type,
  declarations.repeatsDropped.type,
  declarations.eventsCounted.type,
  declarations.aliasesRefused.type,
  declarations.leadRemoved.type,
  declarations.dealRemoved.type,
  declarations.leadForgotten.type,
  declarations.accountForgotten.type,
]);

/** Types of a topic whose records are erased when what they are keyed by is deleted. */
export function erasedTypes(topic: TopicName): ReadonlySet<string> {
  return new Set(
    recordsOf(topic)
      .filter(({ key, type }) => keysOf(topic).has(key) && !kept.has(type))
      .map(({ type }) => type),
  );
}

/** Accounts are erased with what notified of them; their scores are those of a company. */
function keysOf(topic: TopicName): ReadonlySet<string> {
  return new Set(topic === 'notification.events' ? ['lead_id', 'account_id'] : ['lead_id', 'deal_key']);
}

/** Records that delete what they are keyed by, as it was before them in their topic. */
export const deletingTypes: ReadonlySet<string> = new Set([
  declarations.leadDeleted.type,
  declarations.leadRemoved.type,
  declarations.dealRemoved.type,
]);

/** Records that delete what earlier records of another topic have caused. */
export const forgettingTypes: ReadonlySet<string> = new Set([
  declarations.leadForgotten.type,
  declarations.accountForgotten.type,
]);
