// The ingest service's table of contents: its capabilities and its batching options.
import { auditTrail, capabilitiesOf } from '@lead-scoring/capability';
import { routeDeclarations } from '@lead-scoring/contracts';
import { aliasesProjection } from './aliases/capability.js';
import type { CacheLimits } from './aliases/cached-documents.js';
import { eventDeletions } from './event-deletions/capability.js';
import { eventTypeRecounts } from './event-type-recounts/capability.js';
import { eventTypeVisibility } from './event-type-settings/capability.js';
import { followedEventTypeUses } from './event-type-uses/capability.js';
import { eventStore } from './events/capability.js';
import { intake } from './intake/capability.js';
import { ingestJobs, type IngestJobsDependencies } from './jobs/capability.js';
import { leadMetadataProjection } from './lead-metadata/capability.js';
import { leadConflictProjection } from './merges/conflicts.js';
import { repeats } from './repeats/capability.js';
import { countedEventsProjection } from './usage/counted-events.js';

export interface IngestOptions {
  /** The most aliases that the leads of an OU may claim in a partition; default: no limit. */
  aliasShare?: number;
  /** The sizes of the cache of redirects and claims; default: `usualLimits`. */
  knownAliases?: CacheLimits;
  /** The most event types of an OU that lists show from one partition; default: as the API says. */
  listedTypes?: number;
  /** Of records of deleted leads that are in memory at a time; default 8 MB. */
  deletedBytes?: number;
  jobs: IngestJobsDependencies;
}

const { listedOfPartition } = routeDeclarations.eventTypeLimits;

export function ingestService({
  aliasShare = Infinity,
  knownAliases,
  listedTypes = listedOfPartition,
  deletedBytes,
  jobs,
}: IngestOptions) {
  const events = eventStore({ listedTypes, deletedBytes });
  const aliases = aliasesProjection(knownAliases);
  const capabilities = [
    events,
    aliases,
    repeats,
    countedEventsProjection,
    leadConflictProjection,
    leadMetadataProjection,
    intake({ events, aliases, aliasShare }),
    eventTypeVisibility,
    eventDeletions,
    followedEventTypeUses(),
    eventTypeRecounts,
    ingestJobs(jobs, listedTypes),
    auditTrail('ingest'),
  ];
  return capabilitiesOf('ingest', capabilities, {
    // Events of a lead that arrive while a batch is processed become one record in the next: large batches cost least per event.
    maxBytesPerBatch: 8 * 1024 * 1024,
    // Positions of a 202 are translated to positions in ingest.events: see visibility/queries.ts.
    storesEventsEnd: true,
    // 2: counts by time (`versionWithPeriods`); 3: statistics of types by OU; 4: jobs; 5: deletions of types; 6: ends of leads;
    // 7: the audit trail.
    version: 7,
  });
}
