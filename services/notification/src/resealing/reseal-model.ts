// Seals the secrets of a channel with the current key, and counts secrets by key. Pure.
import { signingContext, type records } from '@lead-scoring/contracts';
import type { Channel } from '../configuration/state.js';

/** The functions on secrets that resealing needs; the Sealing of @lead-scoring/service has them. */
export interface Resealing {
  seal(text: string, context: string): string;
  unseal(sealed: string, context: string): string;
  standingOf(sealed: string, context: string): keyof SecretCounts;
  signingSecret(keyId: string): string;
}

/** Number of secrets by the key that opens them: the current key, the previous key, or none. */
export interface SecretCounts {
  current: number;
  superseded: number;
  unreadable: number;
}

/** Counts the channel's secrets by key. A signing secret that is derived and not stored needs the key that derives it. */
export function countsOf(channel: Channel, sealing: Pick<Resealing, 'standingOf'>): SecretCounts {
  const counts: SecretCounts = { current: 0, superseded: 0, unreadable: 0 };
  for (const { sealed, context } of secretsOf(channel))
    counts[sealed === undefined ? 'superseded' : sealing.standingOf(sealed, context)] += 1;
  return counts;
}

/** The event with the resealed secrets of the channel; a secret that no key opens is left as it is. */
export function resealed(channel: Channel, sealing: Resealing, at: string): records.ChannelResealed {
  const anew = (sealed: string, context: string): string =>
    sealing.standingOf(sealed, context) === 'superseded'
      ? sealing.seal(sealing.unseal(sealed, context), context)
      : sealed;
  const signing = (keyId: string, stored: string | undefined): string =>
    stored === undefined
      ? sealing.seal(sealing.signingSecret(keyId), signingContext(keyId))
      : anew(stored, signingContext(keyId));
  const { key_id, secret, previous } = channel.signing;
  return {
    ou_id: channel.ou_id,
    channel_id: channel.id,
    destination: withSecrets(channel.destination, (sealed) => anew(sealed, channel.id)),
    signing_secret: signing(key_id, secret),
    ...(previous && { previous_signing_secret: signing(previous.key_id, previous.secret) }),
    at,
  };
}

function secretsOf({ id, destination, signing }: Channel): { sealed: string | undefined; context: string }[] {
  const found: { sealed: string | undefined; context: string }[] = [];
  withSecrets(destination, (sealed) => {
    found.push({ sealed, context: id });
    return sealed;
  });
  for (const key of [signing, ...(signing.previous ? [signing.previous] : [])])
    found.push({ sealed: key.secret, context: signingContext(key.key_id) });
  return found;
}

/** The destination with each of its sealed texts replaced. */
function withSecrets(
  destination: records.ChannelDestination,
  replaced: (sealed: string) => string,
): records.ChannelDestination {
  const anew = <Secret extends { sealed: string }>(secret: Secret): Secret => ({
    ...secret,
    sealed: replaced(secret.sealed),
  });
  switch (destination.type) {
    case 'slack':
    case 'email':
      return destination;
    case 'teams': {
      const { webhook_url } = destination.config;
      return { ...destination, config: { ...destination.config, webhook_url: anew(webhook_url) } };
    }
    case 'webhook': {
      const { url, auth_header } = destination.config;
      return {
        ...destination,
        config: {
          url: typeof url === 'string' ? url : anew(url),
          ...(auth_header && { auth_header: anew(auth_header) }),
        },
      };
    }
  }
}
