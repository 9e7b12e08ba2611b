// The ingest service's table of contents: its capabilities, and how much of its input is decided at a time.
import { capabilitiesOf } from '@lead-scoring/capability';
import { aliasesProjection } from './aliases/capability.js';
import type { HeldLimits } from './aliases/held-documents.js';
import { eventStore } from './events/capability.js';
import { intake } from './intake/capability.js';
import { repeats } from './repeats/capability.js';

export interface IngestOptions {
  /** How many aliases the leads of an OU may have claimed in a partition; no limit unless it is set. */
  aliasShare?: number;
  /** How many redirects and claims are in memory, where not as usual. */
  knownAliases?: HeldLimits;
}

export function ingestService({ aliasShare = Infinity, knownAliases }: IngestOptions = {}) {
  const aliases = aliasesProjection(knownAliases);
  return capabilitiesOf('ingest', [eventStore, aliases, repeats, intake({ aliases, aliasShare })], {
    // What a lead sent while the batch before was under way becomes one record: large batches cost least an event.
    maxBytesPerBatch: 8 * 1024 * 1024,
    // Positions of a 202 are translated to it: see visibility/queries.ts.
    storesEventsEnd: true,
  });
}
