// The event types that an OU hides: decided and folded. Pure.
import type { Rejection } from '@lead-scoring/capability';
import { eventTypeKey, routeDeclarations } from '@lead-scoring/contracts';
import type { SettingsCommand, SettingsEvent } from './messages.js';

export interface EventTypeSettings {
  readonly ou_id: string;
  /** By the key that all spellings of a type share: the spelling in which it was hidden. */
  readonly hidden: ReadonlyMap<string, string>;
}

export const noSettings = (ou_id: string): EventTypeSettings => ({ ou_id, hidden: new Map() });

const { maximumHiddenTypes } = routeDeclarations;

export function decideSettings(
  { payload: { ou_id, event_type, hidden, requested_at, actor } }: SettingsCommand,
  settings: EventTypeSettings,
): Rejection | { outcome: 'done'; events: SettingsEvent[] } {
  if (settings.hidden.has(eventTypeKey(event_type)) === hidden) return { outcome: 'done', events: [] };
  if (hidden && settings.hidden.size >= maximumHiddenTypes)
    return {
      outcome: 'rejected',
      code: 'limit_reached',
      message: `This organizational unit hides ${maximumHiddenTypes.toLocaleString('en')} event types, and more are not allowed. Show one of them first: PUT /settings/ou/event-types/{eventType} with hidden false.`,
    };
  return {
    outcome: 'done',
    events: [
      {
        type: 'EventTypeVisibilityChanged',
        payload: { ou_id, event_type, hidden, at: requested_at, ...(actor && { actor }) },
      },
    ],
  };
}

export function evolveSettings(
  settings: EventTypeSettings,
  { payload: { event_type, hidden } }: SettingsEvent,
): EventTypeSettings {
  const after = new Map(settings.hidden);
  const key = eventTypeKey(event_type);
  if (hidden) after.set(key, event_type);
  else after.delete(key);
  return { ...settings, hidden: after };
}
