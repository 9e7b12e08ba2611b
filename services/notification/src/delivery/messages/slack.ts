// A notification as a Slack message.
import type { Notice } from '../notice.js';
import { escapeSlack } from '../text.js';

export interface SlackMessage {
  /** Text of push notifications. */
  text: string;
  blocks: SlackBlock[];
}

interface PlainText {
  type: 'plain_text';
  text: string;
  emoji: false;
}

interface Markup {
  type: 'mrkdwn';
  text: string;
  verbatim: true;
}

export type SlackBlock =
  | { type: 'header'; text: PlainText }
  | { type: 'section'; text: PlainText | Markup }
  | { type: 'section'; fields: PlainText[] };

/** Slack's limits in characters, after escaping; Slack refuses a message beyond a limit. */
const maximumHeader = 150;
const maximumField = 2_000;
const maximumSection = 3_000;

/** Lead data is plain text, in which Slack reads neither markup nor emoji; escaped, it cannot mention anyone. */
export function slackMessage({ title, facts, reasons, link }: Notice): SlackMessage {
  const blocks: SlackBlock[] = [{ type: 'header', text: plain(title, maximumHeader) }];
  if (facts.length > 0)
    blocks.push({
      type: 'section',
      fields: facts.map(({ label, value }) => plain(`${label}\n${value}`, maximumField)),
    });
  if (reasons.length > 0) blocks.push({ type: 'section', text: plain(reasons.join('\n'), maximumSection) });
  if (link !== null)
    blocks.push({
      type: 'section',
      // A URL contains no < and no >; a | would end the address.
      text: {
        type: 'mrkdwn',
        text: `<${escapeSlack(link.replaceAll('|', '%7C'))}|Why this score>`,
        verbatim: true,
      },
    });
  return { text: escapeSlack(title), blocks };
}

function plain(text: string, maximum: number): PlainText {
  let shown = text;
  while (escapeSlack(shown).length > maximum)
    shown = `${shown.slice(0, Math.min(maximum, shown.length) - 10).toWellFormed()}…`;
  return { type: 'plain_text', text: escapeSlack(shown), emoji: false };
}
