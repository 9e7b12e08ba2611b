// Routes between the services. They are on the internal query port only and in no public document.
import { z } from 'zod';
import { id, name, time, wholeNumber } from '../common.js';
import { accountReference } from '../vocabulary/accounts.js';
import { attributionLimits, touchLimits } from '../vocabulary/attribution.js';
import { analyticsLimits, getEventsAnalytics } from './event-analytics.js';
import { defineRoute, viewer } from './route.js';

/** Asks ingest which lead an id means now: the lead itself, or the lead that its alias was linked to. */
export const findNamedLead = defineRoute({
  name: 'findNamedLead',
  method: 'GET',
  path: '/internal/named-lead/{leadID}',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'The lead that an id names',
  parameters: z.strictObject({ leadID: id }),
  responses: {
    200: {
      description:
        'The lead itself, or the one that its alias was linked to when it has no events of its own',
      schema: z.strictObject({ lead_id: id }),
    },
  },
  problems: [],
});

/** Waits until a position is visible in ingest, and answers the positions that scoring must have reached for it. */
export const awaitVisible = defineRoute({
  name: 'awaitVisible',
  method: 'GET',
  path: '/internal/visible',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Waits until a position is visible in the event store, at most 10 s (503 position_not_reached)',
  query: z.strictObject({ position: z.string().min(1).max(2_000) }),
  responses: {
    200: {
      description: 'Visible',
      schema: z.strictObject({
        positions: z
          .string()
          .max(20_000)
          .describe(
            'What the position became in ingest.events: the value of x-min-positions for reads of scoring.',
          ),
      }),
    },
  },
  problems: ['position_unknown', 'position_not_reached'],
});

/** Leads in one question about touches. */
export const maximumTouchLeads = 100;

/** Asks ingest for the type, time, campaign and path of events of some leads, for attribution. Events that carry a deal are left out. */
export const listTouches = defineRoute({
  name: 'listTouches',
  method: 'POST',
  path: '/internal/touches',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'The touches of leads',
  body: z.strictObject({
    leads: z.array(id).min(1).max(maximumTouchLeads),
    before: time.describe('Only touches before this time.'),
    maximum_events: wholeNumber(1, attributionLimits.events).describe('The most events to read.'),
  }),
  responses: {
    200: {
      description: 'The touches, in no order',
      schema: z.strictObject({
        touches: z
          .array(
            z.strictObject({
              id,
              lead_id: id,
              at: time,
              event_type: z.string().max(100),
              campaign: z.string().max(touchLimits.campaign).optional(),
              path: z.string().max(touchLimits.path).optional(),
            }),
          )
          .max(attributionLimits.events),
        events: z.int().min(0).describe('The events that were read, touches or not.'),
        complete: z.boolean().describe('false: the leads have more events than were to be read.'),
      }),
    },
  },
  problems: [],
});

/** Asks scoring for the two accounts of a merge, before the merge is asked for. */
export const planAccountMerge = defineRoute({
  name: 'planAccountMerge',
  method: 'GET',
  path: '/internal/account-merge/{id}',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Accounts',
  summary: 'The accounts of a merge, and what it moves',
  parameters: z.strictObject({ id }),
  query: z.strictObject({ target_id: id }),
  responses: {
    200: {
      description: 'The accounts; of a source that was merged already, what that merge moved',
      schema: z.strictObject({
        source: accountReference,
        target: accountReference,
        leads_reassigned: z.int().min(0),
        deals_reassigned: z.int().min(0),
      }),
    },
  },
  problems: ['account_not_found'],
});

const leadList = z.strictObject({ leads: z.array(id).max(analyticsLimits.filteredLeads) });

/** Asks scoring which leads a saved filter matches now. */
export const matchingLeads = defineRoute({
  name: 'matchingLeads',
  method: 'GET',
  path: '/internal/matching-leads',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'The leads that a filter matches',
  query: z.strictObject({ filter_id: id }),
  responses: { 200: { description: 'The leads, in no order', schema: leadList } },
  problems: ['filter_not_found', 'range_too_large'],
});

/** Asks ingest for the series of GET /events-analytics over the events of some leads. */
export const analyticsOfLeads = defineRoute({
  name: 'analyticsOfLeads',
  method: 'POST',
  path: '/internal/events-analytics',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'Series of the events of leads',
  query: getEventsAnalytics.query,
  body: leadList,
  responses: getEventsAnalytics.responses,
  problems: ['range_too_large'],
});

/** Asks scoring how many events of a type have points, before their deletion. */
export const countEventScores = defineRoute({
  name: 'countEventScores',
  method: 'GET',
  path: '/internal/event-scores',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'The events of a type that a rule has matched',
  query: z.strictObject({ event_type: name(100) }),
  responses: {
    200: {
      description: 'The number of events; those of deleted leads are not counted',
      schema: z.strictObject({ events: z.int().min(0) }),
    },
  },
  problems: [],
});

/** Asks ingest for the event types that have come in, hidden ones as well, for warnings about rules. */
export const listSeenEventTypes = defineRoute({
  name: 'listSeenEventTypes',
  method: 'GET',
  path: '/internal/event-types',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Events',
  summary: 'The event types that have come in',
  responses: {
    200: {
      description: 'Types',
      schema: z.array(z.strictObject({ name: z.string().max(100), hidden: z.boolean() })),
    },
  },
  problems: [],
});
