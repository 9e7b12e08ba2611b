// Routes that take what the clients of Segment's HTTP tracking API send. The format: segment.com/docs, "HTTP Tracking API Source".
import { z } from 'zod';
import { id, name, text } from '../common.js';
import { sentTimeRule, utcTime } from '../intake/sent-time.js';
import { metadataObject } from '../vocabulary/metadata.js';
import { intakeLimits } from './intake.js';
import { defineRoute, intake } from './route.js';

export const segmentLimits = {
  /** The longest body that is read before its sender is known, because the write key is in it: the limit of Segment's own API. */
  keyedBodyBytes: 500_000,
};

/** The types of messages. */
export const segmentTypes = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;
export type SegmentType = (typeof segmentTypes)[number];

/** Clients send null for what is absent. */
const sentId = z.union([text(512), z.number()]);
const sentTime = text(40)
  .refine((value) => utcTime(value) !== null, sentTimeRule)
  .nullish();
const freeObject = metadataObject.nullish();
const label = text(1_000).nullish();

const senderFields = {
  writeKey: text(200)
    .nullish()
    .describe(
      'The client id of a service account, a dot and its secret: in place of the header Authorization, for bodies of up to 500 KB.',
    ),
};

const timeFields = {
  sentAt: sentTime.describe(
    "The sender's time when it sent the request: what its clock is wrong by is taken off `timestamp`.",
  ),
};

const commonFields = {
  messageId: text(1_000)
    .nullish()
    .describe(
      'The `event_id`, so that a message that is sent again counts once. Of one of more than 128 characters the SHA-256 sum takes its place. Without one, each time counts.',
    ),
  userId: sentId
    .nullish()
    .describe(
      'An alias of the lead, of the kind user_id. A message needs this, or anonymousId, or an e-mail trait.',
    )
    .meta({ example: 'user-4711' }),
  anonymousId: sentId.nullish().describe('An alias of the lead, of the kind anonymous_id.'),
  timestamp: sentTime.describe('When it happened; default now; at most 24 hours in the future.'),
  originalTimestamp: sentTime.describe(
    'In place of an absent `timestamp`, as clients of RudderStack send it.',
  ),
  ...timeFields,
  context: freeObject.describe(
    'Kept: texts of `page` and `campaign`, and `locale`. `traits` are those of the person, on any message.',
  ),
};

const properties = freeObject.describe('`metadata.properties`, within the limits of metadata.');

const pageFields = {
  name: label.describe('`metadata.properties.name`'),
  category: label.describe('`metadata.properties.category`'),
  properties: properties.meta({ example: { path: '/pricing' } }),
};

/** The fields of each type of message, besides `type`. */
const fieldsOf = {
  track: {
    event: name(100).describe('The `event_type`.').meta({ example: 'Order Completed' }),
    properties: properties.meta({ example: { revenue: 39.95 } }),
    ...commonFields,
  },
  identify: {
    traits: freeObject
      .describe(
        '`metadata.traits`. `email` is an alias of the lead; its name, company, title, owner and phone come from here.',
      )
      .meta({ example: { email: 'ada@example.com', company: { name: 'Example' } } }),
    ...commonFields,
  },
  page: { ...pageFields, ...commonFields },
  screen: { ...pageFields, ...commonFields },
  group: {
    groupId: sentId.describe('`metadata.group.id`').meta({ example: 'account-12' }),
    traits: freeObject
      .describe("`metadata.group.traits`, the company's own; their `name` is the lead's company.")
      .meta({ example: { name: 'Example' } }),
    ...commonFields,
  },
  alias: {
    ...commonFields,
    previousId: sentId
      .describe(
        'A further alias of the lead: of the kind email if it is an e-mail address, else anonymous_id.',
      )
      .meta({ example: 'anonymous-17' }),
    userId: sentId.describe('The alias of the lead, of the kind user_id.').meta({ example: 'user-4711' }),
  },
} satisfies Record<SegmentType, z.core.$ZodLooseShape>;

/** What a message without any id is told. */
export const segmentNamingRule =
  'is missing: a message names its lead by userId, anonymousId, or an e-mail address in traits.email';

/** Requires a field by which a message may name its lead; whether one does is known from their values. */
function naming<Shape extends z.core.$ZodLooseShape>(
  message: z.ZodObject<Shape, z.core.$loose>,
  fields: readonly string[] = ['userId', 'anonymousId', 'context'],
) {
  const isNamed = (value: Readonly<Record<string, unknown>>) => fields.some((field) => value[field] != null);
  return message
    .refine(isNamed, { path: ['userId'], error: segmentNamingRule })
    .meta({ anyOf: fields.map((field) => ({ required: [field] })) });
}

const identifying = ['userId', 'anonymousId', 'context', 'traits'];

/** The form of each type of message in a batch. Fields that are not listed are allowed and not kept. */
export const segmentMessages = {
  track: naming(z.looseObject({ type: z.literal('track'), ...fieldsOf.track })),
  identify: naming(z.looseObject({ type: z.literal('identify'), ...fieldsOf.identify }), identifying),
  page: naming(z.looseObject({ type: z.literal('page'), ...fieldsOf.page })),
  screen: naming(z.looseObject({ type: z.literal('screen'), ...fieldsOf.screen })),
  group: naming(z.looseObject({ type: z.literal('group'), ...fieldsOf.group })),
  alias: z.looseObject({ type: z.literal('alias'), ...fieldsOf.alias }),
};

/** The form of the body of a route that takes one message: its path says the type. */
export const segmentBodies = {
  track: naming(z.looseObject({ ...fieldsOf.track, ...senderFields })),
  identify: naming(z.looseObject({ ...fieldsOf.identify, ...senderFields }), identifying),
  page: naming(z.looseObject({ ...fieldsOf.page, ...senderFields })),
  screen: naming(z.looseObject({ ...fieldsOf.screen, ...senderFields })),
  group: naming(z.looseObject({ ...fieldsOf.group, ...senderFields })),
  alias: z.looseObject({ ...fieldsOf.alias, ...senderFields }),
};

const batchFields = {
  ...senderFields,
  ...timeFields,
  context: freeObject.describe('For every message: its own context takes precedence, key by key.'),
};

/** A batch whose messages are not checked yet. */
export const segmentEnvelope = z.looseObject({
  batch: z.array(z.unknown()).min(1).max(intakeLimits.events),
  ...batchFields,
});

const accepted = {
  success: z.literal(true),
  accepted: z.int().min(1).max(intakeLimits.events),
  batch_id: id,
  position: z
    .string()
    .max(2_000)
    .describe(
      'An opaque mark in the log: a read with min_position=… waits until everything up to it is visible.',
    ),
};

const description = [
  "Messages as the clients of Segment's HTTP tracking API send them; `docs/sources.md` has the table of what becomes what. The user of HTTP Basic is the write key, which is the client id of a service account, a dot and its secret; the password is empty. In place of the header the body may hold it as `writeKey`.",
  'Pages of any origin may send. The body is JSON whatever of its three media types is named, and may be gzip.',
];

/** What the routes have in common. */
const segmentRoute = {
  method: 'POST',
  owner: 'ingest',
  kind: 'intake',
  access: intake,
  tag: 'Events',
  // Browsers send text/plain, and some clients name no type of their own beside gzip.
  bodyTypes: ['application/json', 'text/plain', 'application/x-www-form-urlencoded'],
  fromBrowsers: true,
  responses: {
    200: {
      description: 'Acknowledged by the log',
      schema: z.strictObject(accepted).meta({ id: 'SegmentAccepted' }),
    },
  },
  problems: ['delivery_loop'],
} as const;

export const sendSegmentTrack = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentTrack',
  path: '/v1/track',
  alsoAt: ['/v1/t'],
  summary: "Send an event as Segment's track",
  description: ['The lead did something: `event` is the event type.', ...description].join('\n\n'),
  body: segmentBodies.track,
});

export const sendSegmentIdentify = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentIdentify',
  path: '/v1/identify',
  alsoAt: ['/v1/i'],
  summary: "Send traits of a lead as Segment's identify",
  description: ['Who the lead is: an event of the type Identify.', ...description].join('\n\n'),
  body: segmentBodies.identify,
});

export const sendSegmentPage = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentPage',
  path: '/v1/page',
  alsoAt: ['/v1/p'],
  summary: "Send a page view as Segment's page",
  description: ['The lead saw a page: an event of the type Page View.', ...description].join('\n\n'),
  body: segmentBodies.page,
});

export const sendSegmentScreen = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentScreen',
  path: '/v1/screen',
  alsoAt: ['/v1/s'],
  summary: "Send a view of an app's screen as Segment's screen",
  description: ['The lead saw a screen of an app: an event of the type Screen View.', ...description].join(
    '\n\n',
  ),
  body: segmentBodies.screen,
});

export const sendSegmentGroup = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentGroup',
  path: '/v1/group',
  alsoAt: ['/v1/g'],
  summary: "Send the company of a lead as Segment's group",
  description: ['The lead belongs to a company: an event of the type Group.', ...description].join('\n\n'),
  body: segmentBodies.group,
});

export const sendSegmentAlias = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentAlias',
  path: '/v1/alias',
  alsoAt: ['/v1/a'],
  summary: "Name another id of a lead as Segment's alias",
  description: ['Two ids are one lead: an event of the type Alias names both.', ...description].join('\n\n'),
  body: segmentBodies.alias,
});

export const sendSegmentBatch = defineRoute({
  ...segmentRoute,
  name: 'sendSegmentBatch',
  path: '/v1/batch',
  alsoAt: ['/v1/b'],
  summary: 'Send messages of any of these types',
  description: [
    '1 to 5,000 messages, 10 MB. Where some are not valid, the others are taken, and 400 says which were not and why: the clients drop a batch that gets 400. The same batch may be sent again: what was taken counts once by its messageId. With an Idempotency-Key, which these clients do not send, the batch is taken whole or not at all.',
    ...description,
  ].join('\n\n'),
  body: z.looseObject({
    batch: z
      .array(
        z.discriminatedUnion('type', [
          segmentMessages.track,
          segmentMessages.identify,
          segmentMessages.page,
          segmentMessages.screen,
          segmentMessages.group,
          segmentMessages.alias,
        ]),
      )
      .min(1)
      .max(intakeLimits.events),
    ...batchFields,
  }),
});
