// The parts of the Helm chart that follow from the services' settings: which process reads which of them, and the schema of values, by
// which helm refuses a wrong or missing value before anything is installed.
import type { z } from 'zod';
import { serviceNames } from '../records/record.js';
import { allowedBy, type ProcessSettings } from './operations.js';

/** How the chart sets the variables of one process. */
interface ChartProcess {
  /** The addresses of other services, which the chart knows. */
  addresses: { setting: string; service: string }[];
  /** By the values file. */
  settings: string[];
  /** From keys of the same name in a Secret. */
  secrets: { setting: string; isRequired: boolean }[];
}

/** Set by the chart itself, or without a meaning in a container. */
const ofChart = new Set(['HOST', 'PORT', 'INTERNAL_PORT', 'READY_FILE', 'SOURCE_FILE']);
/** URIs that may contain a password. */
const secretAddresses = new Set(['MONGODB_URI', 'SMTP_URL']);
const secretName = /(_SECRET|_SECRET_(PREVIOUS|NEXT)|_PASSWORD|_TOKEN|_CREDENTIAL)$/;
/** Required by the chart, because a system without them lets nobody in. */
const requiredByChart = new Set(['BOOTSTRAP_ORGANISATION', 'BOOTSTRAP_TOKEN', 'APP_URL']);

/** Whether a setting is a secret, which a values file must not contain. */
export function isSecretSetting(variable: string): boolean {
  return secretAddresses.has(variable) || secretName.test(variable);
}

/** deploy/helm/files/settings.json. */
export function chartSettings(processes: readonly ProcessSettings[]): string {
  const byProcess = Object.fromEntries(
    processes.map(({ process, shape }): [string, ChartProcess] => {
      const own = Object.keys(shape).filter((variable) => !ofChart.has(variable));
      return [
        process,
        {
          addresses: own.flatMap((setting) => {
            const service = addressedService(setting);
            return service === undefined ? [] : [{ setting, service }];
          }),
          settings: own.filter(
            (variable) => !isSecretSetting(variable) && addressedService(variable) === undefined,
          ),
          secrets: own
            .filter(isSecretSetting)
            .map((setting) => ({ setting, isRequired: isRequired(setting, shape[setting]) })),
        },
      ];
    }),
  );
  return json(byProcess);
}

/** The service that a setting has the address of. */
function addressedService(variable: string): string | undefined {
  return serviceNames.find((name) => variable === `${name.toUpperCase().replaceAll('-', '_')}_URL`);
}

function isRequired(variable: string, schema: z.ZodType | undefined): boolean {
  return requiredByChart.has(variable) || schema?.safeParse(undefined).success === false;
}

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, rest: Schema = {}): Schema => ({ type: 'string', description, ...rest });
const whole = (description: string, minimum: number, maximum: number): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  description,
});
const list = (description: string, items: Schema, rest: Schema = {}): Schema => ({
  type: 'array',
  items,
  description,
  ...rest,
});
/** An object with these fields and no other. */
const fields = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
/** An object whose fields are those of Kubernetes, or of a file described elsewhere. */
const foreign = (description: string): Schema => ({ type: 'object', description });

const kubernetesName = { pattern: '^[a-z0-9]([a-z0-9.-]{0,60}[a-z0-9])?$' };
const name = (description: string) => text(description, { anyOf: [{ const: '' }, kubernetesName] });
const flag = (description: string): Schema => ({ type: 'boolean', description });
const port = (description: string) => whole(description, 1, 65_535);

/** deploy/helm/values.schema.json. */
export function chartValuesSchema(processes: readonly ProcessSettings[]): string {
  const shapes = processes.flatMap(({ process, shape }) =>
    Object.entries(shape).map(([variable, schema]) => ({ process, variable, schema })),
  );
  const settable = shapes.filter(
    ({ variable }) =>
      !ofChart.has(variable) && !isSecretSetting(variable) && addressedService(variable) === undefined,
  );
  const ofServices = settable.filter(({ process }) => process !== 'kafka-source');
  const settingsSchema = (from: typeof settable) =>
    Object.fromEntries(from.map(({ variable, schema }) => [variable, settingSchema(schema)]));
  const required = new Set(
    ofServices.filter(({ variable, schema }) => isRequired(variable, schema)).map(({ variable }) => variable),
  );
  const sourceSettings = settingsSchema(
    settable.filter(({ process, variable }) => process === 'kafka-source' && variable.startsWith('SOURCE_')),
  );
  return json({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Made from the settings of the services by `npm run refresh-operations-pages`',
    ...fields(
      {
        ...chartValues,
        settings: fields(settingsSchema(ofServices), [...required].sort()),
        services: fields(
          Object.fromEntries(
            serviceNames.map((service) => [
              service,
              serviceSchema(settingsSchema(settable.filter(({ process }) => process === service))),
            ]),
          ),
          serviceNames,
        ),
        sources: list('Producers’ topics: docs/sources.md.', sourceSchema(sourceSettings)),
      },
      ['image', 'settings', 'secrets', 'services'],
    ),
  });
}

/** What a setting may be, from the words that a process says of a wrong value. */
function settingSchema(schema: z.ZodType): Schema {
  const description = schema.description ?? '';
  const allowed = allowedBy(schema);
  const range = /^a whole number from (\d+) to (\d+)$/.exec(allowed);
  if (range) return whole(description, Number(range[1]), Number(range[2]));
  if (allowed === 'true or false') return flag(description);
  const choice = /^one of (.+)$/.exec(allowed);
  if (choice) return text(description, { enum: choice[1]?.split(', ') });
  if (allowed.startsWith('a URL that starts with http'))
    return text(description, { pattern: '^https?://\\S+$' });
  if (allowed.startsWith('host:port'))
    return text(description, { pattern: '^[^\\s/,]+:\\d{1,5}(\\s*,\\s*[^\\s/,]+:\\d{1,5})*$' });
  return text(description, { minLength: 1, title: allowed });
}

function serviceSchema(settings: Record<string, Schema>): Schema {
  return fields(
    {
      replicas: whole('Processes, where autoscaling does not set their number.', 0, 1_000),
      resources: foreign('Resources of the container.'),
      settings: fields(settings),
    },
    ['replicas'],
  );
}

function sourceSchema(settings: Record<string, Schema>): Schema {
  return fields(
    {
      name: text('Its name among the objects.', { pattern: '^[a-z0-9-]{1,40}$' }),
      description: foreign('The description of the source, in the form of docs/sources.md.'),
      secretName: text('The Secret with SOURCE_CREDENTIAL.', kubernetesName),
      replicas: whole('Processes.', 0, 1_000),
      resources: foreign('Resources of the container.'),
      settings: fields(settings),
    },
    ['name', 'description', 'secretName'],
  );
}

const scale = (own: Record<string, Schema>): Schema =>
  fields(
    {
      minimum: whole('The fewest processes.', 1, 1_000),
      maximum: whole('The most processes, at most PARTITIONS.', 1, 1_000),
      ...own,
    },
    ['minimum', 'maximum', ...Object.keys(own)],
  );
const byLag = scale({ lag: whole('Unread records for each process.', 1, 100_000_000) });
const peers = (description: string) => list(description, foreign('A peer of a NetworkPolicy.'));

const chartValues: Record<string, Schema> = {
  image: fields(
    {
      repository: text('Images are <repository>/<service>:<tag>.', { minLength: 1 }),
      tag: text('Default: the appVersion of the chart.'),
      pullPolicy: text('When images are pulled.', { enum: ['Always', 'IfNotPresent', 'Never'] }),
      pullSecrets: list('Secrets for the registry of images.', text('A name.', kubernetesName)),
    },
    ['repository'],
  ),
  secrets: fields({ name: text('The Secret with the secret settings.', kubernetesName) }, ['name']),
  files: fields({ secretName: name('The Secret whose keys are files, such as certificates.') }),
  sourceCommand: list('Starts a source in the image of the gateway.', text('A word.')),
  autoscaling: fields({
    enabled: flag('Whether KEDA sets the number of processes.'),
    prometheusUrl: text('The Prometheus with the lag.', { pattern: '^(https?://\\S+)?$' }),
    services: fields({
      gateway: scale({ processorPercent: whole('Use of the requested processor time.', 1, 100) }),
      ingest: byLag,
      scoring: byLag,
      notification: byLag,
      share: byLag,
      'site-analysis': byLag,
    }),
  }),
  service: fields({
    type: text('Of the gateway.', { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }),
    port: port('Of the gateway.'),
  }),
  ingress: fields({
    enabled: flag('Whether an Ingress leads to the gateway.'),
    className: name('The class of the Ingress.'),
    host: text('The name by which browsers reach the gateway.'),
    tlsSecretName: name('The Secret with the certificate.'),
    annotations: foreign('Annotations of the Ingress.'),
  }),
  networkPolicies: fields({
    enabled: flag('Whether NetworkPolicies are made.'),
    callers: peers('Who may reach the gateway; empty: all.'),
    metrics: { ...peers('Who may reach health and metrics.'), minItems: 1 },
    servers: peers('Where Kafka, the registry, MongoDB and the collector are; empty: everywhere.'),
    mongodbPort: port('Of MongoDB, whose address is a secret.'),
    webPorts: list('Ports of webhooks and websites.', port('A port.'), { minItems: 1 }),
    mailPorts: list('Ports of mail servers.', port('A port.')),
    inside: list('Addresses that are not outside of the cluster.', text('A block of addresses.')),
  }),
  podAnnotations: foreign('Annotations of every pod.'),
  nodeSelector: foreign('Labels of the nodes.'),
  tolerations: list('Tolerations of every pod.', foreign('A toleration.')),
  global: foreign('Of helm.'),
};

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
