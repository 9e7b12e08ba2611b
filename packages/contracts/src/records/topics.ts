// Every topic of the system. All share one partition count, so that a key is in the same partition everywhere.
import { serviceNames, type TopicDeclaration } from './record.js';

const hour = 3_600_000;
const day = 24 * hour;

export const topics: readonly TopicDeclaration[] = [
  ...serviceNames.flatMap((service): TopicDeclaration[] => [
    {
      name: `${service}.commands`,
      audience: 'internal',
      description: `What the ${service} service is asked to do.`,
      retentionMs: 7 * day,
    },
    {
      name: `${service}.events`,
      audience: service === 'gateway' ? 'internal' : 'public',
      description: `What the ${service} service decided: its source of truth, kept for ever.`,
      retentionMs: -1,
    },
    {
      name: `${service}.dead-letters`,
      audience: 'operators',
      description: `Records that the ${service} service could not take, as they came, with the reason in the headers.`,
      retentionMs: 30 * day,
    },
  ]),
  {
    name: 'replies',
    audience: 'internal',
    description: 'Answers to commands, for the gateway instance that waits for them.',
    retentionMs: hour,
  },
];
