// Counting all leads in their accounts anew, from the recorded history.
import { z } from 'zod';
import { accountBackfillFound } from '../records/account-backfill.js';
import { jobId } from '../records/job-id.js';
import { defineRoute, editor } from './route.js';

const eitherWay = z.enum(['true', 'false'], 'must be true or false').default('false');

export const backfillAccounts = defineRoute({
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag: 'Accounts',
  method: 'POST',
  name: 'backfillAccounts',
  path: '/backfill/accounts',
  summary: 'Count all leads in their accounts, from the recorded history',
  description:
    'Leads count in accounts from their next event on once there is a rule over accounts or a roll-up; a changed rule or roll-up counts for an account from the next event of one of its leads. A job does both for all leads at once: it reads which account the events of each lead have named last, and with which values, else takes the domain of its e-mail address, and each account is scored by the rules of now. A lead that has come to an account by a later event stays there. GET /jobs/{id} shows how far it is (`total` and `done` count records of the log that it reads) and, when it is completed, its `result`: how many leads come to an account, move to another one, or stay. The scores of accounts follow within moments. No trigger fires unless `fire_triggers=true`. An organizational unit has one such job at a time; another is refused (409 `job_running`, which names it).',
  query: z.strictObject({
    dry_run: eitherWay.describe('Only say what would change.').meta({ example: 'true' }),
    fire_triggers: eitherWay.describe(
      'Whether triggers by account score fire where one crosses their threshold.',
    ),
  }),
  responses: {
    202: {
      description: 'The job has begun',
      schema: z.strictObject({ job_id: jobId }).meta({ id: 'AccountBackfillStarted' }),
    },
  },
  problems: ['job_running'],
});

const counts = accountBackfillFound.shape;

export const accountBackfillResult = z
  .strictObject({
    dry_run: z.boolean().describe('Whether nothing was changed.'),
    joining: counts.joining.describe('Leads that count in no account before, and in one afterwards.'),
    moving: counts.moving.describe('Leads that count in another account afterwards.'),
    refreshed: counts.refreshed.describe(
      'Leads that stay in their account and count there anew: their score or the configuration has changed since they did last, or earlier events gave values of the account.',
    ),
    unchanged: counts.unchanged.describe('Leads that already count as they should.'),
    without_account: counts.without_account.describe(
      'Leads that belong to no account: no event has named one, and they have no e-mail address of a company. All leads, where there is neither a rule over accounts nor a roll-up.',
    ),
  })
  .describe('What a completed backfill of accounts has found, as of the moment when it looked at each lead.')
  .meta({ id: 'AccountBackfillResult' });
export type AccountBackfillResult = z.infer<typeof accountBackfillResult>;
