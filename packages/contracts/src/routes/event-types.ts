// Event types: their names and properties, and their settings in an organizational unit.
import { z } from 'zod';
import { id, name } from '../common.js';
import { triggerKind } from '../vocabulary/webhook.js';
import { minPosition } from './events.js';
import { defineRoute, editor, viewer } from './route.js';

export const eventTypeLimits = {
  /** Types that a list takes from a partition: those that came first and still have events. */
  listedOfPartition: 500,
  /** Rules, and triggers, that a settings entry names. */
  namedUses: 20,
  /** Examples of values are read from the newest events of a type. */
  sampledEvents: 200,
  /** The days before its last event in which they are looked for. */
  sampledDays: 31,
  /** Examples of a property. */
  examples: 3,
  /** The longest example, in UTF-16 code units; a longer one is cut. */
  exampleLength: 100,
  /** Properties of a type. */
  properties: 2_000,
  /** The longest name of a property, in UTF-16 code units; a property with a longer one is not counted. */
  propertyName: 200,
};

const count = z.int().min(0);
const typeName = z.string().max(100);
const propertyName = z.string().max(eventTypeLimits.propertyName);
const eventType = name(100).describe('Title Case or snake_case: both spellings of a type are one.');
const parameters = z.strictObject({ eventType });

const withFlood = `At most ${eventTypeLimits.listedOfPartition.toLocaleString('en')} types from each partition are listed, those that came first; events of all others are kept, found by their type, and counted in other of GET /event-stats.`;

export const listEventTypes = defineRoute({
  name: 'listEventTypes',
  method: 'GET',
  path: '/event-types',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Event types of the OU, in alphabetical order',
  description: `Hidden types are left out. Of both spellings of a type, Title Case is shown. ${withFlood}`,
  query: z.strictObject({ min_position: minPosition }),
  responses: { 200: { description: 'Names', schema: z.array(typeName) } },
  problems: [],
});

export const propertyTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'] as const;

const property = z
  .strictObject({
    name: propertyName,
    events: count.describe('Events of the type that have it.'),
    types: z
      .array(z.enum(propertyTypes))
      .min(1)
      .max(propertyTypes.length)
      .describe('The types of its values, the most frequent first.'),
    examples: z
      .array(z.string().max(eventTypeLimits.exampleLength + 1))
      .max(eventTypeLimits.examples)
      .describe(
        `Different values, the newest first; a value that is no text is shown as JSON, and one longer than ${String(eventTypeLimits.exampleLength)} characters is cut and ends in "…".`,
      ),
  })
  .meta({ id: 'EventTypeProperty' });
export type EventTypeProperty = z.infer<typeof property>;

export const listEventTypeProperties = defineRoute({
  name: 'listEventTypeProperties',
  method: 'GET',
  path: '/event-types/{eventType}/properties',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Metadata keys seen with an event type',
  description: `How many events have each key, and with values of which types, is counted exactly, up to ${eventTypeLimits.properties.toLocaleString('en')} keys; those longer than ${String(eventTypeLimits.propertyName)} characters are left out. Examples are values of the newest ${String(eventTypeLimits.sampledEvents)} events of the type, at most ${String(eventTypeLimits.sampledDays)} days older than the last one. A hidden type has its properties as well.`,
  parameters,
  query: z.strictObject({ min_position: minPosition }),
  responses: {
    200: {
      description: 'Keys',
      schema: z.strictObject({
        event_type: typeName,
        properties: z.array(propertyName).max(eventTypeLimits.properties).describe('In alphabetical order.'),
        details: z
          .array(property)
          .max(eventTypeLimits.properties)
          .describe('One for each of the properties, in the same order.'),
      }),
    },
  },
  problems: ['event_type_not_found'],
});

const uses = z
  .strictObject({
    rules: z
      .array(z.strictObject({ id, ruleset_id: id, label: z.string().max(100).optional() }))
      .max(eventTypeLimits.namedUses)
      .describe('Engagement rules that score the type, active or not.'),
    triggers: z
      .array(z.strictObject({ id, kind: triggerKind, name: z.string().max(100) }))
      .max(eventTypeLimits.namedUses)
      .describe('Triggers that name the type, active or not. A trigger for all types does not protect any.'),
    further: count.describe('Rules and triggers that use the type and are not listed here.'),
  })
  .meta({ id: 'EventTypeUses' });
export type EventTypeUses = z.infer<typeof uses>;

const settingsEntry = z
  .strictObject({
    name: typeName,
    hidden: z.boolean().describe('Left out of GET /event-types. Its events stay, score and count as before.'),
    ou_event_count: count.describe('Events of the type in the organizational unit.'),
    protected: z.boolean().describe('A scoring rule or a trigger uses it.'),
    deletable: z
      .boolean()
      .describe('All of its events may be deleted: no scoring rule and no trigger uses it.'),
    protected_by: uses,
  })
  .meta({ id: 'EventTypeSettings' });
export type EventTypeSettings = z.infer<typeof settingsEntry>;

export const listEventTypeSettings = defineRoute({
  name: 'listEventTypeSettings',
  method: 'GET',
  path: '/settings/ou/event-types',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Event types of the OU with their settings, in alphabetical order',
  description: `Types that have events, and hidden types without events. A rule or trigger that was just made or deleted shows within moments. ${withFlood}`,
  query: z.strictObject({ min_position: minPosition }),
  responses: { 200: { description: 'Settings', schema: z.array(settingsEntry) } },
  problems: [],
});

/** Types that an OU may hide. */
export const maximumHiddenTypes = 1_000;

export const setEventTypeSettings = defineRoute({
  name: 'setEventTypeSettings',
  method: 'PUT',
  path: '/settings/ou/event-types/{eventType}',
  owner: 'ingest',
  kind: 'command',
  access: editor,
  tag: 'Events',
  summary: 'Hide an event type, or show it again',
  description: `A hidden type is left out of GET /event-types; its events stay, score and count as before. A type may be hidden before its first event. An organizational unit hides at most ${maximumHiddenTypes.toLocaleString('en')} types.`,
  parameters,
  body: z.strictObject({ hidden: z.boolean() }),
  responses: { 204: { description: 'Hidden, or shown' } },
  problems: ['limit_reached'],
});

export const dryRunEventTypeDeletion = defineRoute({
  name: 'dryRunEventTypeDeletion',
  method: 'GET',
  path: '/settings/ou/event-types/{eventType}/dry-run-delete',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'What the deletion of all events of a type would delete',
  description: 'Nothing is deleted. A type that has no events, or never had any, has zeros.',
  parameters,
  query: z.strictObject({ min_position: minPosition }),
  responses: {
    200: {
      description: 'Counts',
      schema: z
        .strictObject({
          events_count: count.describe('Events that would be deleted.'),
          event_scores_count: count.describe(
            'Those of them that a rule has matched when they were scored, whose points the deletion would concern.',
          ),
        })
        .meta({ id: 'EventTypeDryRun' }),
    },
  },
  problems: [],
});

export const eventDeletionResult = z
  .strictObject({
    event_type: typeName,
    events_deleted: count,
    event_scores_deleted: count.describe('Those of them that a rule had matched when they were scored.'),
    leads_affected: count.describe(
      'Leads whose scores were decided anew, because these had given them points.',
    ),
  })
  .meta({ id: 'EventDeletionResult' });
