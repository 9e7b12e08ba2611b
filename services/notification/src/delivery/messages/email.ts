// A notification as an e-mail: subject, text, HTML, and headers for lists, unsubscribing and automatic replies.
import type { Notice } from '../notice.js';
import { escapeHtml, oneLine } from '../text.js';

export interface EmailMessage {
  subject: string;
  text: string;
  html: string;
  /** The same for every attempt, so that a mailbox shows repeats once. */
  messageId: string;
  headers: Record<string, string>;
}

export interface EmailOptions {
  notification_id: string;
  channel_id: string;
  subject_prefix?: string | undefined;
  /** The address without a name. */
  from: string;
}

export function emailMessage(notice: Notice, options: EmailOptions): EmailMessage {
  const { notification_id, channel_id, subject_prefix = '', from } = options;
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const subject = oneLine(`${subject_prefix} ${notice.title}`, 200);
  const unsubscribe = `mailto:${from}?subject=${encodeURIComponent(`Unsubscribe from ${channel_id}`)}`;
  return {
    subject,
    text: textOf(notice),
    html: htmlOf(notice),
    messageId: `<${notification_id}@${domain}>`,
    headers: {
      'List-Id': `<${channel_id}.notifications.${domain}>`,
      'List-Unsubscribe': `<${unsubscribe}>`,
      // Suppresses automatic replies such as out-of-office notes.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
  };
}

function textOf({ title, facts, reasons, link }: Notice): string {
  return [
    [title],
    facts.map(({ label, value }) => `${label}: ${value}`),
    reasons.map((reason) => `- ${reason}`),
    link === null ? [] : [`Why this score: ${link}`],
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
    .concat('\n');
}

function htmlOf({ title, facts, reasons, link }: Notice): string {
  const rows = facts
    .map(
      ({ label, value }) =>
        `<tr><th align="left">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
    )
    .join('');
  const items = reasons.map((reason) => `<li>${escapeHtml(reason)}</li>`).join('');
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>',
    escapeHtml(title),
    '</title></head><body>',
    `<h1 style="font-size:20px">${escapeHtml(title)}</h1>`,
    rows && `<table cellpadding="4">${rows}</table>`,
    items && `<ul>${items}</ul>`,
    link === null ? '' : `<p><a href="${escapeHtml(link)}">Why this score</a></p>`,
    '</body></html>',
  ].join('');
}

const address = /^[^\s@,;<>()[\]\\":]{1,64}@[^\s@,;<>()[\]\\":]{1,255}$/u;

/**
 * The addresses of a comma-separated list, each only an address: no names, no comments, no line breaks.
 * @throws TypeError for anything else
 */
export function recipientsOf(list: string): string[] {
  const addresses = list.split(',').map((part) => part.trim());
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(list) || !addresses.every((part) => address.test(part)))
    throw new TypeError('recipients must be e-mail addresses separated by commas');
  return [...new Set(addresses)];
}
