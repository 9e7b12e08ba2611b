// The watch list: an aggregate that decides on commands about one lead, and a projection that counts.
import {
  aggregate,
  documentProjection,
  storedAsDocuments,
  type AggregateShape,
} from '@lead-scoring/capability';
import { binaryToUuid, uuidToBinary } from '@lead-scoring/read-model';
import { decideWatch, evolveWatch, type Watch } from './decide.js';
import { countId, toWatch, watchCounts, watches, type WatchCountDocument } from './documents.js';
import {
  leadUnwatched,
  leadWatched,
  unwatchLead,
  watchLead,
  type WatchCommand,
  type WatchEvent,
} from './messages.js';

interface WatchedLead extends AggregateShape {
  state: { lead_id: string; watch: Watch };
  command: WatchCommand;
  event: WatchEvent;
}

const events = { LeadWatched: leadWatched, LeadUnwatched: leadUnwatched };

export const watchList = aggregate<WatchedLead>({
  name: 'watch-list',
  commands: { WatchLead: watchLead, UnwatchLead: unwatchLead },
  events,
  keyOf: ({ payload }) => payload.lead_id,
  initial: (lead_id) => ({ lead_id, watch: null }),
  decide: (command, { watch }) => decideWatch(command, watch),
  evolve: ({ lead_id, watch }, event) => ({ lead_id, watch: evolveWatch(watch, event) }),
  resultOf: (_command, { watch }) => ({ watched: watch !== null }),
  stored: storedAsDocuments({
    collection: watches,
    idOf: uuidToBinary,
    toState: (document) => ({ lead_id: binaryToUuid(document._id), watch: toWatch(document) }),
    toDocument: ({ lead_id, watch }, at) => ({
      _id: uuidToBinary(lead_id),
      since: watch?.since ?? null,
      ...at,
    }),
  }),
});

export const countedWatches = documentProjection<WatchEvent, WatchCountDocument>({
  name: 'watch-counts',
  events,
  collection: watchCounts,
  idOf: ({ payload }, partition) => countId(payload.ou_id, partition),
  fold: (document, { type, payload }, at) => ({
    _id: countId(payload.ou_id, at.partition),
    ou: uuidToBinary(payload.ou_id),
    watched: (document?.watched ?? 0) + (type === 'LeadWatched' ? 1 : -1),
    ...at,
  }),
});
