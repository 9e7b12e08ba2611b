// A notification as an Adaptive Card for a Teams workflow.
import type { Notice } from '../notice.js';

/** The size limit of Teams. */
export const maximumCardBytes = 28 * 1_024;

interface TextRun {
  type: 'TextRun';
  text: string;
  weight?: 'Bolder';
  size?: 'Large';
}

interface RichText {
  type: 'RichTextBlock';
  inlines: TextRun[];
  spacing?: 'Small';
}

export interface TeamsMessage {
  type: 'message';
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive';
      contentUrl: null;
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json';
        type: 'AdaptiveCard';
        version: '1.4';
        body: RichText[];
        actions?: { type: 'Action.OpenUrl'; title: string; url: string }[];
      };
    },
  ];
}

/** All text is in text runs, the only element in which no client reads markdown. */
export function teamsMessage({ title, facts, reasons, link }: Notice): TeamsMessage {
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            rich([{ type: 'TextRun', text: title, weight: 'Bolder', size: 'Large' }]),
            ...facts.map(({ label, value }) =>
              rich([
                { type: 'TextRun', text: `${label}: `, weight: 'Bolder' },
                { type: 'TextRun', text: value },
              ]),
            ),
            ...reasons.map((text) => rich([{ type: 'TextRun', text }])),
          ],
          ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Why this score', url: link }] }),
        },
      },
    ],
  };
}

function rich(inlines: TextRun[]): RichText {
  return { type: 'RichTextBlock', inlines, spacing: 'Small' };
}
