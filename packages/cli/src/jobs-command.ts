// `lead-scoring jobs`: the jobs of an organizational unit, the newest first.
import { routeDeclarations } from '@lead-scoring/contracts';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { shortTime } from './explanation.js';
import { wholeNumber } from './ingest-command.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface JobsFlags {
  status?: string;
  limit?: string;
  page?: string;
  json?: boolean;
}

const statuses = routeDeclarations.jobStatus.options;

/** @returns the exit code */
export async function jobs(flags: JobsFlags, settings: Settings, output: Output): Promise<number> {
  const status = statuses.find((one) => one === flags.status);
  if (flags.status !== undefined && !status)
    throw new CommandFailed(`--status must be one of ${statuses.join(', ')}.`, exitCodes.usage);
  const answer = await clientOf(settings, promptRetries).call('listJobs', {
    query: {
      limit: wholeNumber('--limit', flags.limit ?? '25', 1, 100),
      page: wholeNumber('--page', flags.page ?? '1', 1, 1_000_000),
      ...(status && { status }),
    },
  });
  if (flags.json === true) {
    output.write(`${JSON.stringify(answer, null, 2)}\n`);
    return exitCodes.done;
  }
  if (answer.unavailable)
    output.note(
      `Jobs of ${answer.unavailable.join(' and ')} are missing: the service does not answer. \`lead-scoring doctor\` shows the state of the services.\n`,
    );
  if (answer.total === 0) {
    output.write('No jobs.\n');
    return exitCodes.done;
  }
  output.write(
    `${table(answer.data, [
      { title: 'STATUS', value: (job) => job.status },
      { title: 'KIND', value: (job) => job.kind, maximum: 24 },
      {
        title: 'DONE',
        value: (job) => (job.total === null ? job.done : `${job.done}/${job.total}`),
        align: 'right',
      },
      { title: 'FAILED', value: (job) => job.failed, align: 'right' },
      { title: 'STARTED', value: (job) => shortTime(job.started_at) },
      { title: 'ENDED', value: ({ ended_at, eta }) => endOf(ended_at, eta) },
      { title: 'ID', value: (job) => job.id, maximum: 80 },
    ])}\n`,
  );
  output.note(`${answer.data.length} of ${answer.total.toLocaleString('en')} jobs\n`);
  return exitCodes.done;
}

function endOf(endedAt: string | null, eta: string | null): string {
  if (endedAt !== null) return shortTime(endedAt);
  return eta === null ? '' : `about ${shortTime(eta)}`;
}
