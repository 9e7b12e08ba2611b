// Decides on commands on an OU's triggers. Pure.
import type { records } from '@lead-scoring/contracts';
import type { Trigger } from '@lead-scoring/scoring-domain/triggers';
import {
  canonical,
  configurationLimits,
  done,
  limitReached,
  rejected,
  unlessTooLarge,
} from './decision-model.js';
import { refusalOfNamed, type KnownScoring } from './scoring-names-model.js';
import type { ConfigurationDecision, Refusal } from './messages.js';
import type { NotificationConfiguration } from './state.js';

export function createTrigger(
  { ou_id, trigger_id, definition, requested_at }: records.CreateTrigger,
  configuration: NotificationConfiguration,
  scoring: KnownScoring,
): ConfigurationDecision {
  const known = configuration.triggers.get(trigger_id);
  const unplaced = refusalOfNamed(definition, known, scoring);
  if (unplaced) return rejected(unplaced);
  if (known) return done();
  const refusal = refusalOfChannels(definition.channel_ids, configuration);
  if (refusal) return rejected(refusal);
  if (configuration.triggers.size >= configurationLimits.triggers)
    return limitReached(
      `An organizational unit holds at most ${String(configurationLimits.triggers)} triggers. Delete one that is not needed any more.`,
    );
  return unlessTooLarge(configuration, {
    type: 'TriggerCreated',
    payload: { ou_id, trigger_id, definition, version: 1, at: requested_at },
  });
}

export function replaceTrigger(
  { ou_id, trigger_id, definition, requested_at }: records.ReplaceTrigger,
  configuration: NotificationConfiguration,
  scoring: KnownScoring,
): ConfigurationDecision {
  const known = configuration.triggers.get(trigger_id);
  if (known?.kind !== definition.kind) return triggerNotFound();
  const refusal =
    refusalOfNamed(definition, known, scoring) ?? refusalOfChannels(definition.channel_ids, configuration);
  if (refusal) return rejected(refusal);
  if (isDefinedAs(known, definition)) return done();
  return unlessTooLarge(configuration, {
    type: 'TriggerReplaced',
    payload: { ou_id, trigger_id, definition, version: known.version + 1, at: requested_at },
  });
}

export function deleteTrigger(
  { ou_id, trigger_id, kind, requested_at }: records.DeleteTrigger,
  configuration: NotificationConfiguration,
): ConfigurationDecision {
  if (configuration.triggers.get(trigger_id)?.kind !== kind) return triggerNotFound();
  return done({ type: 'TriggerDeleted', payload: { ou_id, trigger_id, kind, at: requested_at } });
}

function refusalOfChannels(
  channelIds: readonly string[],
  { channels }: NotificationConfiguration,
): Refusal | null {
  const errors = channelIds.flatMap((id, index) =>
    channels.has(id)
      ? []
      : [
          {
            path: `body.channel_ids[${String(index)}]`,
            message: 'is not a notification channel of this organizational unit',
          },
        ],
  );
  if (errors.length === 0) return null;
  return {
    code: 'notification_channel_not_found',
    message: `${String(errors.length)} of the channel_ids are not notification channels of this organizational unit. GET /notification-channels lists them.`,
    errors,
  };
}

function isDefinedAs(trigger: Trigger, definition: records.TriggerDefinition): boolean {
  const own = new Set(['id', 'ou_id', 'version', 'since', 'created_at', 'updated_at', 'changed_by']);
  return (
    canonical(Object.fromEntries(Object.entries(trigger).filter(([key]) => !own.has(key)))) ===
    canonical(definition)
  );
}

function triggerNotFound(): ConfigurationDecision {
  return rejected({
    code: 'trigger_not_found',
    message: 'No trigger of this kind has this id in this organizational unit.',
  });
}
