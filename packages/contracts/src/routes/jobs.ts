// Jobs: long work that a service does in bounded steps. One form for the jobs of all services.
import { z } from 'zod';
import { cursorParameter, page, pageParameters, time } from '../common.js';
import { jobId, servicesWithJobs } from '../records/job-id.js';
import { jobError, maximumJobErrors } from '../records/jobs.js';
import { defineRoute, editor, viewer } from './route.js';
import { accountBackfillResult } from './account-backfill.js';
import { eventDeletionResult } from './event-types.js';
import { eventTypeBackfillResult } from './event-type-backfill.js';
import { leadMergeResult } from './lead-merge-result.js';
import { levelBackfillResult } from './level-backfill.js';
import { rescoringResult } from './rescoring.js';
import { suggestionResult } from './suggestions.js';
import { whatIfResult } from './what-if.js';

const own = { owner: 'job', tag: 'Jobs' } as const;
const parameters = z.strictObject({ id: jobId });

export const jobStatus = z
  .enum(['running', 'completed', 'failed', 'cancelled'])
  .describe('failed: it could not go on; the last error says why.');

/** How many rows of an import of leads had one outcome, so far. */
const rowsOf = (outcome: string) =>
  z.int().min(0).optional().describe(`Of an import of leads: the rows that ${outcome}.`);

export const job = z
  .strictObject({
    id: jobId,
    kind: z.string().max(64).meta({ example: 'redelivery' }),
    status: jobStatus,
    total: z.int().min(0).nullable().describe('Items that there are to do; null: not known.'),
    done: z.int().min(0).describe('Items that were dealt with, failed ones included.'),
    failed: z.int().min(0),
    created: rowsOf('have made a lead'),
    updated: rowsOf('were of leads that were there'),
    skipped: rowsOf('had been imported before'),
    errors: z
      .array(jobError)
      .max(maximumJobErrors)
      .describe(`The first ${String(maximumJobErrors)}; of a failed job, the last one says why it ended.`),
    rate: z.number().min(0).nullable().describe('Items a second; null before the first step.'),
    eta: time.nullable().describe('When it is expected to end; null where that is not known.'),
    started_at: time,
    ended_at: time.nullable(),
    result: z
      .union([
        whatIfResult,
        suggestionResult,
        rescoringResult,
        accountBackfillResult,
        levelBackfillResult,
        eventTypeBackfillResult,
        eventDeletionResult,
        leadMergeResult,
      ])
      .optional()
      .describe(
        'Of a completed what-if, suggestion, rescoring, backfill of accounts, levels or event types, deletion of events, or merge of leads. Other jobs have no result.',
      ),
  })
  .meta({ id: 'Job' });
export type Job = z.infer<typeof job>;

export const listedJob = job.omit({ errors: true, result: true }).meta({ id: 'ListedJob' });
export type ListedJob = z.infer<typeof listedJob>;

export const listJobs = defineRoute({
  owner: 'jobs',
  tag: 'Jobs',
  name: 'listJobs',
  method: 'GET',
  path: '/jobs',
  kind: 'query',
  access: viewer,
  summary: 'Jobs, newest first',
  description:
    'The jobs of the organizational unit, whichever service runs them. GET /jobs/{id} has the errors of one. While a service that runs jobs does not answer, the list has those of the others, and `unavailable` names it.',
  query: z.strictObject({ status: jobStatus.optional(), ...pageParameters, cursor: cursorParameter }),
  responses: {
    200: {
      description: 'Jobs',
      schema: page(listedJob).extend({
        unavailable: z
          .array(z.enum(servicesWithJobs))
          .min(1)
          .max(servicesWithJobs.length)
          .optional()
          .describe(
            'Services that did not answer: their jobs are missing here, and in `total`. Ask again in a moment, from the first page. Absent when all have answered.',
          )
          .meta({ example: ['scoring'] }),
      }),
    },
  },
  problems: [],
});

export const getJob = defineRoute({
  ...own,
  name: 'getJob',
  method: 'GET',
  path: '/jobs/{id}',
  kind: 'query',
  access: viewer,
  summary: 'How far a job is',
  parameters,
  responses: { 200: { description: 'Job', schema: job } },
  problems: ['job_not_found'],
});

export const cancelJob = defineRoute({
  ...own,
  name: 'cancelJob',
  method: 'POST',
  path: '/jobs/{id}/cancel',
  kind: 'command',
  access: editor,
  summary: 'Cancel a job',
  description:
    'No further step is done; what its steps have done stays. Changes nothing for a job that has ended. A deletion of events and a merge of leads cannot be cancelled.',
  parameters,
  responses: { 200: { description: 'The job, which has ended', schema: job } },
  problems: ['job_not_found', 'job_not_cancellable'],
});

export const listJobErrors = defineRoute({
  ...own,
  name: 'listJobErrors',
  method: 'GET',
  path: '/jobs/{id}/errors',
  kind: 'query',
  access: viewer,
  summary: 'The errors of a job, as CSV',
  description:
    'Columns: row, code, message. Of an import of leads, all rows that failed, each followed by its cells, so that they can be corrected and imported again; for seven days. Of other jobs, the first hundred errors.',
  parameters,
  responses: { 200: { description: 'The errors', contentType: 'text/csv' } },
  problems: ['job_not_found'],
});
