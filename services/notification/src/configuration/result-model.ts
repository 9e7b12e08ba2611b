// The answers to commands on channels and triggers.
import { emptyConfiguration } from '@lead-scoring/scoring-domain';
import { shownChannel, shownTrigger } from './answers-model.js';
import type { DestinationCheck } from './destination-model.js';
import type { KnownScoring } from './scoring-names-model.js';
import type { CommandResult, ConfigurationCommand } from './messages.js';
import type { Channel, NotificationConfiguration } from './state.js';

/** The body of the route's answer, from the state after the command's events. */
export function resultOf(
  command: ConfigurationCommand,
  configuration: NotificationConfiguration,
  scoring: KnownScoring,
  check: Pick<DestinationCheck, 'warningsOf'>,
): CommandResult {
  switch (command.type) {
    case 'CreateChannel':
    case 'ReplaceChannel': {
      const channel = decided(configuration.channels.get(command.payload.channel_id));
      const warnings = check.warningsOf(channel.destination);
      const secret = command.type === 'CreateChannel' && sealedFor(channel, command.payload.signing_key_id);
      // Creating or replacing a channel resumes it.
      return asResult({
        ...shownChannel(channel, { status: 'active' }),
        ...(warnings.length > 0 && { warnings }),
        ...(secret && { signing_secret: secret }),
      });
    }
    case 'RotateChannelSecret': {
      const channel = decided(configuration.channels.get(command.payload.channel_id));
      const secret = sealedFor(channel, command.payload.signing_key_id);
      return {
        previous_valid_until: decided(channel.signing.previous ?? undefined).valid_until,
        ...(secret && { signing_secret: secret }),
      };
    }
    case 'CreateTrigger':
    case 'ReplaceTrigger':
      return asResult(
        shownTrigger(decided(configuration.triggers.get(command.payload.trigger_id)), {
          scoring: scoring ?? emptyConfiguration(command.payload.ou_id),
        }),
      );
    case 'DeleteChannel':
    case 'DeleteTrigger':
      return undefined;
  }
}

/** The sealed signing secret of a key, so that a repeated command is answered with the same secret. */
function sealedFor({ destination, signing }: Channel, keyId: string): string | undefined {
  if (destination.type !== 'webhook') return undefined;
  return signing.key_id === keyId ? signing.secret : signing.previous?.secret;
}

function decided<Resource>(resource: Resource | undefined): Resource {
  if (resource === undefined) throw new Error('the resource of a decided command is missing in the state');
  return resource;
}

/** Removes fields that are undefined. */
function asResult(resource: object): CommandResult {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined));
}
