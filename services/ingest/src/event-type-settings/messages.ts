// The command on the settings of event types, and its event.
import type { records } from '@lead-scoring/contracts';

export interface SettingsCommand {
  type: 'SetEventTypeHidden';
  payload: records.SetEventTypeHidden;
}

export interface SettingsEvent {
  type: 'EventTypeVisibilityChanged';
  payload: records.EventTypeVisibilityChanged;
}
