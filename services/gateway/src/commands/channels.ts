// The destination of a channel's notifications in a command: its secrets are sealed before they leave this process.
import { randomBytes } from 'node:crypto';
import {
  partsOfShownUrl,
  shownPartsOf,
  signingContext,
  type JsonObject,
  type records,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import type { Sealing } from '@lead-scoring/service';
import { problem } from '../problem.js';

/** @param channelId a secret that is sealed for one channel cannot be opened for another */
export function destinationOf(
  { type, config }: routeDeclarations.NotificationChannelForm,
  channelId: string,
  sealing: Sealing,
): records.WrittenDestination {
  const secret = (text: string) => writtenSecret(text, channelId, sealing);
  switch (type) {
    case 'slack':
      return { type, config };
    case 'teams':
      return { type, config: { ...config, webhook_url: secret(config.webhook_url) } };
    case 'webhook': {
      const { url, auth_header } = config;
      return {
        type,
        config: {
          url: writtenUrl(url, channelId, sealing),
          ...(auth_header !== undefined && { auth_header: secret(auth_header) }),
        },
      };
    }
    case 'email': {
      const { recipients, subject_prefix } = config;
      return {
        type,
        config: {
          recipients: recipients
            .split(',')
            .map((address) => address.trim())
            .join(', '),
          ...(subject_prefix !== undefined && { subject_prefix }),
        },
      };
    }
  }
}

interface SigningInput {
  /** Also the id of the signing key that the command creates. */
  commandId: string;
  sealing: Sealing;
}

/** A new signing key of the channel, in the form of Standard Webhooks: `whsec_` and base64. */
export function newSigningSecret({ commandId, sealing }: SigningInput): {
  signing_key_id: string;
  signing_secret: string;
} {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { signing_key_id: commandId, signing_secret: sealing.seal(secret, signingContext(commandId)) };
}

/** Adds the channel's signing secret to the owner's result; for a repeat, the secret of the first command. */
export function shownSigningSecret({ commandId, sealing }: SigningInput): (result: JsonObject) => JsonObject {
  return ({ signing_secret: sealed }) => ({
    signing_secret:
      typeof sealed === 'string'
        ? sealing.unseal(sealed, signingContext(commandId))
        : // A channel from before secrets were stored has one that is derived.
          sealing.signingSecret(commandId),
  });
}

/** @throws ProblemError 400 `invalid_url` */
function writtenUrl(text: string, channelId: string, sealing: Sealing): records.WrittenUrl {
  const kept = partsOfShownUrl(text);
  if (kept) return { kept: true, ...kept };
  const shown = shownPartsOf(text);
  if (!shown)
    throw problem('invalid_url', 'config.url is not a URL: give one such as https://example.com/hooks.', {
      errors: [{ path: 'body.config.url', message: 'is not a URL' }],
    });
  return { sealed: sealing.seal(text, channelId), ...shown };
}

/** A secret as answers show it, an ellipsis and its last four characters: the caller keeps the one that the channel has. */
const shortened = /^…(.{0,4})$/;

function writtenSecret(text: string, channelId: string, sealing: Sealing): records.WrittenSecret {
  const last_four = shortened.exec(text)?.[1];
  if (last_four !== undefined) return { kept: true, last_four };
  return { sealed: sealing.seal(text, channelId), last_four: lastFourOf(text) };
}

/** The last four characters; of a text shorter than 12, none, because they would reveal too much of it. */
function lastFourOf(text: string): string {
  return text.length >= 12 ? text.slice(-4) : '';
}
