// Checks the address of a channel by its text. The host's IP addresses are checked at each attempt.
import { problemTypeOf, type Warning } from '@lead-scoring/contracts';
import { OutboundRefused, type Outbound } from '@lead-scoring/outbound';
import type { Sealing } from '@lead-scoring/service';
import type { DestinationCheck } from './destination-model.js';
import type { Refusal } from './messages.js';

/** Whether the service has the settings that a destination needs. */
export interface SetUpDestinations {
  slack: boolean;
  email: boolean;
}

export function createDestinationCheck(
  outbound: Pick<Outbound, 'check'>,
  sealing: Pick<Sealing, 'unseal'>,
  setUp: SetUpDestinations,
): DestinationCheck {
  return {
    warningsOf: ({ type }) => {
      if (type === 'slack' && !setUp.slack) return [notSetUp('Slack', 'SLACK_BOT_TOKEN is')];
      if (type === 'email' && !setUp.email) return [notSetUp('E-mail', 'SMTP_URL and MAIL_FROM are')];
      return [];
    },
    refusalOf: (destination, channelId) => {
      switch (destination.type) {
        case 'slack':
        case 'email':
          return null;
        case 'webhook': {
          const { url } = destination.config;
          const address = typeof url === 'string' ? url : sealing.unseal(url.sealed, channelId);
          return refusalOf(outbound, address, ({ code, message: said }) => {
            // The message of `invalid_url` repeats the address, which is a secret.
            const message = code === 'invalid_url' ? `${problemTypeOf(code).title}.` : said;
            return { code, message, errors: [{ path: 'body.config.url', message }] };
          });
        }
        case 'teams': {
          const url = sealing.unseal(destination.config.webhook_url.sealed, channelId);
          // The address is a secret: no part of it may be repeated.
          return refusalOf(outbound, url, ({ code }) => {
            const message = `${problemTypeOf(code).title}: nothing can be sent to config.webhook_url.`;
            return { code, message, errors: [{ path: 'body.config.webhook_url', message }] };
          });
        }
      }
    },
  };
}

function notSetUp(what: string, missing: string): Warning {
  return {
    code: 'channel_not_set_up',
    message: `${what} is not set up: nothing reaches this channel until ${missing} set for the notification service.`,
  };
}

function refusalOf(
  outbound: Pick<Outbound, 'check'>,
  url: string,
  refusal: (refused: OutboundRefused) => Refusal,
): Refusal | null {
  try {
    outbound.check(url);
    return null;
  } catch (error) {
    if (error instanceof OutboundRefused) return refusal(error);
    throw error;
  }
}
