// The audit trail: who changed what, from where, and what it was before and after. Refused sign-ins, counted.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  inOrder,
  integerParameter,
  page,
  pageParameters,
  text,
  time,
  timeParameter,
} from '../common.js';
import { auditedServices, changeAction, changeKind } from '../records/audited.js';
import { actor, maximumAddress } from '../vocabulary/actor.js';
import { metadataObject } from '../vocabulary/metadata.js';
import { admin, defineRoute } from './route.js';

const shared = { owner: 'gateway', kind: 'local', tag: 'Admin', access: admin } as const;

const state = metadataObject
  .nullable()
  .describe('Of a change, the fields that differ; null: the thing was not there.');

export const auditEntry = z
  .strictObject({
    id: text(64).describe('The same at each reading, also after a rebuild.'),
    at: time,
    service: z.enum(auditedServices),
    ou_id: id.nullable().describe('null: a change of the organisation: a member, a credential, a unit.'),
    kind: changeKind,
    action: changeAction,
    subject: z.strictObject({
      id: z.string().max(200),
      name: z.string().max(300).nullable().describe('The name or label, where it has one.'),
    }),
    actor: actor.nullable().describe('null: nobody asked for it, or the event is from before actors.'),
    address: text(maximumAddress)
      .nullable()
      .describe('The IP address of the client, behind the trusted proxies; null where it is not known.')
      .meta({ example: '203.0.113.7' }),
    before: state,
    after: state.describe('Of a change, the fields that differ; null: the thing is gone.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntry>;

/** Entries on a page, and in one read of a service. */
export const maximumAuditEntries = 100;
/** The most ids of credentials that stand for one member. */
export const maximumAuditActors = 1_000;

const filters = {
  from: timeParameter.optional(),
  to: timeParameter.optional().describe('Only changes before it.'),
  kind: changeKind.optional(),
  q: text(200, { minimum: 1, trimmed: true })
    .optional()
    .describe(
      'Part of the name or id of what was changed, or of an id that the entry names; whatever the case.',
    ),
};
const limit = integerParameter(1, maximumAuditEntries).default(25).meta({ default: 25 });

export const listAudit = defineRoute({
  ...shared,
  name: 'listAudit',
  method: 'GET',
  path: '/audit',
  summary: 'Who changed what, from where, and what it was before and after',
  description:
    'Newest first: every administrative and configuration change in the organizational unit, and those of the organisation (its members, credentials and units). A caller who is limited to some units sees those of the organisation that concern no others. The entries are folded from the events on the log. `text/csv` in Accept gives all entries that the filters leave, as a file, without pages. It is 503 while a service does not answer: a list is never shown with a part of it missing.',
  query: inOrder({
    ...filters,
    actor: id
      .optional()
      .describe('The id of a credential; or of a member, for all tokens that are or were theirs.'),
    cursor: cursorParameter,
    limit,
  }),
  responses: {
    200: {
      description: 'Entries',
      schema: z.strictObject({
        data: z.array(auditEntry).max(maximumAuditEntries),
        limit: z.int().min(1).max(maximumAuditEntries),
        next_cursor: z.string().max(3_000).optional().describe('Absent: there are no earlier entries.'),
      }),
      alsoAs: ['text/csv'],
    },
  },
  problems: ['service_unavailable', 'service_timeout'],
});

/** Asks a service for its newest entries before a place. */
export const listChanges = defineRoute({
  ...shared,
  owner: 'scoring',
  kind: 'query',
  name: 'listChanges',
  method: 'POST',
  path: '/internal/changes',
  summary: 'The changes that a service has recorded',
  body: z.strictObject({
    from: time.optional(),
    to: time.optional(),
    kind: filters.kind,
    q: filters.q,
    actors: z.array(z.string().max(100)).max(maximumAuditActors).optional(),
    before: z.strictObject({ at: time, id: text(64) }).optional(),
    limit: z
      .int()
      .min(1)
      .max(maximumAuditEntries + 1),
  }),
  responses: {
    200: {
      description: 'Entries, newest first',
      schema: z.strictObject({ data: z.array(auditEntry).max(maximumAuditEntries + 1) }),
    },
  },
  problems: [],
});
export type ChangesAsked = z.output<typeof listChanges.body>;

export const refusedSignInLimits = {
  /** Combinations of address, credential and reason that a day keeps apart; the others are counted together. */
  countsPerDay: 1_000,
  /** How long the counts are kept. */
  days: 90,
};

export const refusalReason = z
  .enum(['malformed', 'not_valid', 'expired', 'ended', 'wrong_secret'])
  .describe(
    'malformed: no credential has this form. not_valid: this system knows none like it. ended: it was revoked, or its member removed. wrong_secret: of a service account that exists.',
  );
export type RefusalReason = z.infer<typeof refusalReason>;

export const refusedSignIns = z
  .strictObject({
    day: text(10).meta({ format: 'date', example: '2026-01-31' }).describe('In UTC.'),
    address: text(64)
      .nullable()
      .describe(
        'The IP address of the client; of IPv6 the network of 56 bits. null: all that came after the day had its most counts.',
      )
      .meta({ example: '203.0.113.7' }),
    credential: z
      .strictObject({ kind: z.enum(['token', 'service_account']), id })
      .nullable()
      .describe('The credential that was meant, where it exists or existed.'),
    reason: refusalReason.nullable().describe('null where `address` is.'),
    count: z.int().min(1),
    last_at: time,
  })
  .meta({ id: 'RefusedSignIns' });
export type RefusedSignIns = z.infer<typeof refusedSignIns>;

export const listRefusedSignIns = defineRoute({
  ...shared,
  access: { ...admin, organisationUnit: 'none' },
  name: 'listRefusedSignIns',
  method: 'GET',
  path: '/audit/refused-sign-ins',
  summary: 'Sign-ins that were refused, counted by day, address and credential',
  description: `The latest day first, and in it the largest counts. What was sent is not kept, nor a hash of it: where the credential is known its id is there. A request without a credential is no sign-in, and one that is refused because its address has sent too many (429) is not counted. Counts are kept for ${String(refusedSignInLimits.days)} days. A day keeps ${String(refusedSignInLimits.countsPerDay)} counts apart. They are written every few seconds; a gateway that is killed loses what it has counted since. A caller who is limited to some units sees those of the credentials that may use no others.`,
  query: inOrder({
    from: timeParameter.optional().describe('From the day of this time on.'),
    to: timeParameter.optional().describe('Up to the day of this time.'),
    ...pageParameters,
  }),
  responses: { 200: { description: 'Counts', schema: page(refusedSignIns) } },
  problems: [],
});
