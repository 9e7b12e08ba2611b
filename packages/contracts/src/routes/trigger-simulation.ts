// The simulation of a trigger: when and for whom it would have fired over the history that is stored.
import { z } from 'zod';
import { id, inOrder, time, timeParameter } from '../common.js';
import { editor } from './route.js';
import { parameters, read } from './trigger-fields.js';

const simulationForm = inOrder({
  from: timeParameter.optional().describe('Default: 30 days before `to`.').meta({ example: '2026-01-01' }),
  to: timeParameter.optional().describe('Exclusive. Default: now.'),
}).meta({ id: 'Simulation' });

/** The event that would have made a trigger fire. */
export const simulatedEvent = z.strictObject({
  event_id: id,
  event_type: z.string().max(100),
  timestamp: time,
});
export const leadOf = z.strictObject({ id, name: z.string().max(512) });
export const accountOf = z.strictObject({ id, name: z.string().max(512) });
export const truncated = z.boolean().describe('Not everything could be looked at: total is then the least.');
export const maximumListed = 100;

/** The fields of every simulation. */
export const examined = {
  total: z.int().min(0),
  leads: z.int().min(0).describe('Leads for which it would have fired.'),
  leads_examined: z.int().min(0),
  events_examined: z.int().min(0),
  truncated,
};
export const listed = <Item extends z.ZodType>(item: Item) =>
  z.array(item).max(maximumListed).describe('The newest hundred, newest first.');

/** @param cause the schema of the event or score that makes the trigger fire */
export const simulatedFiring = <Cause extends z.ZodType, Values extends z.ZodRawShape>(
  cause: Cause,
  values: Values,
) => z.strictObject({ lead: leadOf, at: time, cause, ...values });

/** @param cause the schema of the event or score that makes the trigger fire */
export const simulated = <Cause extends z.ZodType, Values extends z.ZodRawShape>(
  name: string,
  cause: Cause,
  values: Values,
) => z.strictObject({ data: listed(simulatedFiring(cause, values)), ...examined }).meta({ id: name });

export const simulation = {
  ...read,
  access: editor,
  method: 'POST',
  parameters,
  body: simulationForm,
  summary: 'When and for whom the trigger would have fired',
  description:
    'Over the history that is there, with the trigger as it is now and the scores as they were. Sends nothing and records nothing. Of a trigger by account score, the history is the decisions on accounts since `from`, and what the trigger remembers begins there.',
  problems: ['trigger_not_found'],
} as const;
