// Commands about jobs: each goes to the service that runs the job.
import { jobNamed, records, type ServiceWithJobs } from '@lead-scoring/contracts';
import { command, inUnit, type CommandBuilders } from './command-building.js';

const jobsOf: Readonly<Record<ServiceWithJobs, Pick<records.JobRecords, 'cancelJob'>>> = {
  ingest: records.ingestJobs,
  notification: records.notificationJobs,
  scoring: records.scoringJobs,
};

export const jobCommands = {
  cancelJob: (input) => {
    const { service, id } = jobNamed(input.parameters.id);
    return command(jobsOf[service].cancelJob, id, { ...inUnit(input), job_id: id });
  },
} satisfies Partial<CommandBuilders>;
