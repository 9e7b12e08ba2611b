// The settings of an OU's event types as an aggregate: which of them lists leave out.
import { aggregate, storedAsDocuments, type AggregateShape } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { uuidToBinary } from '@lead-scoring/read-model';
import { eventTypeSettings, toSettings, toSettingsDocument, type SettingsDocument } from './documents.js';
import type { SettingsCommand, SettingsEvent } from './messages.js';
import { decideSettings, evolveSettings, noSettings, type EventTypeSettings } from './settings-model.js';

interface SettingsShape extends AggregateShape {
  state: EventTypeSettings;
  command: SettingsCommand;
  event: SettingsEvent;
}

export const eventTypeVisibility = aggregate<SettingsShape>({
  name: 'event-type-settings',
  commands: { SetEventTypeHidden: records.setEventTypeHidden },
  events: { EventTypeVisibilityChanged: records.eventTypeVisibilityChanged },
  keyOf: ({ payload }) => payload.ou_id,
  initial: noSettings,
  decide: decideSettings,
  evolve: evolveSettings,
  stored: storedAsDocuments<EventTypeSettings, SettingsDocument>({
    collection: eventTypeSettings,
    idOf: uuidToBinary,
    toState: toSettings,
    toDocument: toSettingsDocument,
  }),
});
