// Commands and events of a service that is made up for tests: it fetches the titles of web pages.
import { defineRecord, type PayloadOf } from '@lead-scoring/contracts';
import { z } from 'zod';

const page = { ou_id: z.uuid(), page_id: z.uuid() };
const command = { topic: 'site-analysis.commands', key: 'ou_id' } as const;
const event = { topic: 'site-analysis.events', key: 'ou_id' } as const;
const asked = z.strictObject({ ...page, url: z.url() });
const fetched = z.strictObject({ ...page, title: z.string() });

export const fetchTitle = defineRecord({
  type: 'FetchTitle',
  description: 'Fetch it.',
  schema: asked,
  ...command,
});
export const recordTitle = defineRecord({
  type: 'RecordTitle',
  description: 'It was fetched.',
  schema: fetched,
  ...command,
});
export const titleAsked = defineRecord({
  type: 'TitleAsked',
  description: 'It is fetched.',
  schema: asked,
  ...event,
});
export const titleFetched = defineRecord({
  type: 'TitleFetched',
  description: 'It is this.',
  schema: fetched,
  ...event,
});

export type TitleCommand =
  | { type: 'FetchTitle'; payload: PayloadOf<typeof fetchTitle> }
  | { type: 'RecordTitle'; payload: PayloadOf<typeof recordTitle> };
export type TitleEvent =
  | { type: 'TitleAsked'; payload: PayloadOf<typeof titleAsked> }
  | { type: 'TitleFetched'; payload: PayloadOf<typeof titleFetched> };
