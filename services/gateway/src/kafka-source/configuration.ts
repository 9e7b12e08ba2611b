// The settings of a source's process, read from its environment, besides those of every service.
import {
  serverAccessProblems,
  serverAccessSettings,
  serverAccessVariables,
  type ServerAccess,
  type ServerAccessVariable,
} from '@lead-scoring/contracts';
import type { SourceAccess } from '@lead-scoring/event-log';
import { commonConfiguration, setting } from '@lead-scoring/service';
import { z } from 'zod';
import { presentedCredential } from '../credentials/authorization-header.js';
import { authorizationOf } from './source-credential.js';
import { sourceFileSetting } from './source-file.js';

const prefix = 'SOURCE_';
type SourceVariable = Exclude<ServerAccessVariable, `MONGODB_${string}`>;
type SourceSettings = {
  [Variable in SourceVariable as `SOURCE_${Variable}`]: (typeof serverAccessSettings)[Variable];
};

const sourceVariables = serverAccessVariables.filter(
  (variable): variable is SourceVariable => !variable.startsWith('MONGODB_'),
);
/** Access to the source's servers, by the names that access to the system's own has, with a prefix. */
const sourceSettings = Object.fromEntries(
  sourceVariables.map((variable) => [`${prefix}${variable}`, serverAccessSettings[variable]]),
) as SourceSettings;

export const kafkaSourceConfiguration = commonConfiguration
  .extend({
    SOURCE_FILE: sourceFileSetting.describe('The description of the source, a file: docs/sources.md.'),
    SOURCE_CREDENTIAL: z
      .string()
      .refine(
        (credential) => presentedCredential(authorizationOf(credential)).kind !== 'none',
        'must be <client id>.<client secret> of a service account (lss_…), or a personal access token (lsp_…)',
      )
      .describe('Whose events they are: the write key of a service account, or a token.'),
    SOURCE_KAFKA_BROKERS: setting
      .hosts('kafka.example.com:9092')
      .optional()
      .describe("The cluster with the topic. Without it: the system's own."),
    SOURCE_SCHEMA_REGISTRY_URL: setting.httpUrl
      .optional()
      .describe("The registry with the schemas of the topic. Without it: the system's own."),
    SOURCE_MAXIMUM_AHEAD: setting
      .whole(1_000, 10_000_000)
      .default(100_000)
      .describe('The most events that this process has written to the log and that ingest has not read.'),
    ...sourceSettings,
  })
  .superRefine((configuration, context) => {
    for (const { variable, message } of problemsOf(configuration))
      context.addIssue({ code: 'custom', path: [variable], message });
  });

export type KafkaSourceConfiguration = z.output<typeof kafkaSourceConfiguration>;
type Access = { readonly [Variable in keyof SourceSettings]?: unknown } & {
  readonly SOURCE_KAFKA_BROKERS?: unknown;
  readonly SOURCE_SCHEMA_REGISTRY_URL?: unknown;
};

function problemsOf(configuration: Access): { variable: string; message: string }[] {
  const given = accessOf(configuration);
  const texts = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const problems = serverAccessProblems(texts).map(({ variable, message }) => ({
    variable: `${prefix}${variable}`,
    message: message.replaceAll(/\b(?=(?:KAFKA|SCHEMA_REGISTRY)_)/g, prefix),
  }));
  for (const variable of Object.keys(given)) {
    const server = variable.startsWith('KAFKA_') ? 'SOURCE_KAFKA_BROKERS' : 'SOURCE_SCHEMA_REGISTRY_URL';
    if (configuration[server] === undefined)
      problems.push({ variable: `${prefix}${variable}`, message: `is set, and needs ${server}` });
  }
  return problems;
}

/** The settings of the source that are set, by the names without the prefix. */
function accessOf(configuration: Access): ServerAccess {
  return Object.fromEntries(
    sourceVariables.flatMap((variable) => {
      const value = configuration[`SOURCE_${variable}`];
      return value === undefined ? [] : [[variable, value]];
    }),
  );
}

/** The cluster of the topic. */
export function sourceClusterOf(
  configuration: KafkaSourceConfiguration,
): Omit<SourceAccess, 'clientId'> & { brokers: string[] } {
  const { SOURCE_KAFKA_BROKERS: brokers } = configuration;
  return brokers === undefined
    ? { brokers: configuration.KAFKA_BROKERS, access: configuration, settingPrefix: '' }
    : { brokers, access: accessOf(configuration), settingPrefix: prefix };
}

/** The registry of the topic's schemas. */
export function sourceRegistryOf(
  configuration: KafkaSourceConfiguration,
): Omit<SourceAccess, 'clientId'> & { url: string } {
  const { SOURCE_SCHEMA_REGISTRY_URL: url } = configuration;
  return url === undefined
    ? { url: configuration.SCHEMA_REGISTRY_URL, access: configuration, settingPrefix: '' }
    : { url, access: accessOf(configuration), settingPrefix: prefix };
}
