// Decides on the watch list, and folds what was decided: pure.
import type { Rejection } from '@lead-scoring/capability';
import type { WatchCommand, WatchEvent } from './messages.js';

/** Since when a lead is watched; null where it is not. */
export type Watch = { readonly since: string } | null;

export function decideWatch(
  { type, payload }: WatchCommand,
  watch: Watch,
): Rejection | { outcome: 'done'; events: WatchEvent[] } {
  switch (type) {
    case 'WatchLead':
      // The command took effect before: no event.
      return { outcome: 'done', events: watch ? [] : [{ type: 'LeadWatched', payload }] };
    case 'UnwatchLead':
      if (watch) return { outcome: 'done', events: [{ type: 'LeadUnwatched', payload }] };
      return { outcome: 'rejected', code: 'lead_not_found', message: 'This lead is not on the watch list.' };
  }
}

export function evolveWatch(_watch: Watch, { type, payload }: WatchEvent): Watch {
  return type === 'LeadWatched' ? { since: payload.at } : null;
}
