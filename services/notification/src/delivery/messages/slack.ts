// A notification as a Slack message.
import type { Notice } from '../notice.js';
import { escapeSlack } from '../text.js';

export interface SlackMessage {
  /** What notifications on phones show. */
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

/** Slack's limits of characters, after escaping; a message beyond one is refused whole. */
const maximumHeader = 150;
const maximumField = 2_000;
const maximumSection = 3_000;

/** Names of strangers stand in plain text, where Slack reads no markup and no emoji; escaped, they mention nobody. */
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
      // A URL holds no < and no >; a | would end the address.
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
