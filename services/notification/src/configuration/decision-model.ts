// The outcomes of decisions on a configuration, and the limits of a configuration.
import type { ConfigurationDecision, ConfigurationEvent, Refusal } from './messages.js';
import type { NotificationConfiguration } from './state.js';

export const configurationLimits = {
  channels: 200,
  triggers: 1_000,
  /** Size of all channels and triggers as JSON: a configuration has to fit into one document. */
  bytes: 8_000_000,
};

export function done(...events: ConfigurationEvent[]): ConfigurationDecision {
  return { outcome: 'done', events };
}

export function rejected(refusal: Refusal): ConfigurationDecision {
  return { outcome: 'rejected', ...refusal };
}

export function limitReached(message: string): ConfigurationDecision {
  return rejected({ code: 'limit_reached', message });
}

export function unlessTooLarge(
  configuration: NotificationConfiguration,
  event: ConfigurationEvent,
): ConfigurationDecision {
  const { channels, triggers } = configuration;
  const bytes = JSON.stringify([...channels.values(), ...triggers.values(), event.payload]).length;
  if (bytes <= configurationLimits.bytes) return done(event);
  return limitReached(
    `The channels and triggers of an organizational unit may take ${String(configurationLimits.bytes / 1_000_000)} MB in all. Use shorter lists of values in attribute_filters.`,
  );
}

/** JSON with sorted keys: equal texts for equal values. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
