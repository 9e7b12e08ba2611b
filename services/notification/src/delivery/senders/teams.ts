// Sends to Teams: an Adaptive Card to the address of a channel's workflow, which is a secret.
import type { Outbound } from '@lead-scoring/outbound';
import { teamsMessage } from '../messages/teams.js';
import { noticeOf } from '../notice.js';
import { post } from './http.js';
import type { Secrets, Send } from './sender.js';

export function createTeamsSender(
  outbound: Pick<Outbound, 'check' | 'request'>,
  secrets: Pick<Secrets, 'unseal'>,
): Send<'teams'> {
  return ({ channel, config, payload, at, signal }) => {
    const url = secrets.unseal(config.webhook_url.sealed, channel.id);
    const { search } = new URL(url);
    return post(outbound, {
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(teamsMessage(noticeOf(payload))),
      at,
      signal,
      secrets: [url, search.slice(1)],
    });
  };
}
