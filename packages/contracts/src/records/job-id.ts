// Ids of jobs as callers see them: the name of the service that runs the job, and the id of the job in that service.
import { text } from '../common.js';
import type { ServiceName } from './record.js';

/** The services that run jobs. */
export const servicesWithJobs = [
  'ingest',
  'notification',
  'scoring',
] as const satisfies readonly ServiceName[];
export type ServiceWithJobs = (typeof servicesWithJobs)[number];

// The alternatives of the first group are `servicesWithJobs`. A literal, because a test checks the cost of every literal pattern.
// The second group is a UUID that records take: of a version from 1 to 8, and of the variant of RFC 9562.
const form =
  /^(ingest|notification|scoring)-([0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/;

export const jobId = text(80)
  .regex(form, "must be the id of a job: its service's name and a UUID")
  .describe('Begins with the name of the service that runs the job.')
  .meta({ example: 'notification-0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' });

export function jobIdOf(service: ServiceWithJobs, id: string): string {
  return `${service}-${id}`;
}

/** @throws Error for an id that `jobId` does not take */
export function jobNamed(name: string): { service: ServiceWithJobs; id: string } {
  const [, service, id] = form.exec(name) ?? [];
  const known = servicesWithJobs.find((one) => one === service);
  if (known === undefined || id === undefined) throw new Error('this is no id of a job');
  return { service: known, id };
}
