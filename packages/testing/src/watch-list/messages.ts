// Commands and events of the watch list: people mark leads that they do not want to lose sight of.
import { defineRecord, type PayloadOf } from '@lead-scoring/contracts';
import { z } from 'zod';

const watched = { ou_id: z.uuid(), lead_id: z.uuid(), at: z.iso.datetime() };
const onLead = { topic: 'scoring.commands', key: 'lead_id', schema: z.strictObject(watched) } as const;
const ofLead = { topic: 'scoring.events', key: 'lead_id', schema: z.strictObject(watched) } as const;

export const watchLead = defineRecord({ type: 'WatchLead', description: 'Watch a lead.', ...onLead });
export const unwatchLead = defineRecord({ type: 'UnwatchLead', description: 'Watch it no more.', ...onLead });
export const leadWatched = defineRecord({ type: 'LeadWatched', description: 'Is watched.', ...ofLead });
export const leadUnwatched = defineRecord({ type: 'LeadUnwatched', description: 'Is not.', ...ofLead });

export type WatchCommand =
  | { type: 'WatchLead'; payload: PayloadOf<typeof watchLead> }
  | { type: 'UnwatchLead'; payload: PayloadOf<typeof unwatchLead> };
export type WatchEvent =
  | { type: 'LeadWatched'; payload: PayloadOf<typeof leadWatched> }
  | { type: 'LeadUnwatched'; payload: PayloadOf<typeof leadUnwatched> };
