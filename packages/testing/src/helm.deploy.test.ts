// The chart of deploy/helm, rendered by helm: valid for Kubernetes and KEDA, held against the settings of the services, and refused
// with the name of what is wrong or missing.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { defaultOf, serviceNames, type ProcessSettings } from '@lead-scoring/contracts';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { toolPath } from './deploy-tools.js';
import { runProgram, type ProgramOutcome } from './run-program.js';
import { processSettings } from './process-settings.js';
import { checkout } from './test-system.js';

const chart = join(checkout, 'deploy/helm');
const kubernetes = '1.31';
const keda = 'github.com/kedacore/keda/v2@v2.16.1';
const examples = ['small', 'large'] as const;

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string; optional: boolean } };
}

interface Pod {
  automountServiceAccountToken: boolean;
  shareProcessNamespace: boolean;
  terminationGracePeriodSeconds: number;
  securityContext: Record<string, unknown>;
  containers: {
    name: string;
    env: Variable[];
    image: string;
    securityContext: Record<string, unknown>;
    readinessProbe: { httpGet: { path: string; port: string } };
  }[];
}

interface NetworkRule {
  ports?: { port: number | string }[];
  from?: { podSelector?: { matchLabels: Record<string, string> } }[];
  to?: { podSelector?: { matchLabels: Record<string, string> } }[];
}

interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    template: { spec: Pod };
    replicas?: number;
    maxReplicaCount?: number;
    ingress?: NetworkRule[];
    egress?: NetworkRule[];
    triggers?: { type: string; metadata: Record<string, string> }[];
  };
}

const component = 'app.kubernetes.io/component';

/** A source beside the services, which the examples do not have. */
const source = {
  sources: [
    {
      name: 'orders',
      description: { name: 'orders' },
      secretName: 'source-orders',
      settings: { SOURCE_KAFKA_BROKERS: 'kafka.example.com:9092', SOURCE_MAXIMUM_AHEAD: 100_000 },
    },
  ],
};

let folder: string;
let processes: ProcessSettings[];
const rendered = new Map<string, { text: string; manifests: Manifest[] }>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lead-scoring-chart-'));
  processes = await processSettings(checkout, 'sources');
  await writeFile(join(folder, 'source.yaml'), JSON.stringify(source));
  for (const example of examples) {
    const { code, output, stdout } = await helm('template', example, [
      '--values',
      join(folder, 'source.yaml'),
    ]);
    if (code !== 0) throw new Error(output);
    await writeFile(join(folder, `${example}.yaml`), stdout);
    const manifests = parseAllDocuments(stdout).flatMap((document) => {
      const manifest = document.toJS() as Manifest | null;
      return manifest ? [manifest] : [];
    });
    rendered.set(example, { text: stdout, manifests });
  }
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

function helm(
  command: 'lint' | 'template',
  example: string,
  options: readonly string[] = [],
): Promise<ProgramOutcome> {
  const values = ['--values', join(chart, `values-${example}.yaml`), '--kube-version', `${kubernetes}.0`];
  const of = command === 'lint' ? ['lint', '--strict', chart] : ['template', 'leads', chart];
  return runProgram(toolPath('helm'), [...of, ...values, ...options]);
}

function manifestsOf(example: string, kind: string): Manifest[] {
  return (rendered.get(example)?.manifests ?? []).filter((manifest) => manifest.kind === kind);
}

function pods(example: string): Pod[] {
  return manifestsOf(example, 'Deployment').map(({ spec }) => spec.template.spec);
}

function environmentOf(example: string, process: string): Variable[] {
  const container = pods(example)
    .flatMap(({ containers }) => containers)
    .find(({ name }) => name === process);
  return container?.env ?? [];
}

describe.each(examples)('with the values of %s', (example) => {
  test('helm has nothing to say', async () => {
    const { code, output } = await helm('lint', example);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('0 chart(s) failed') });
  });

  test('each manifest is one of Kubernetes, without an unknown field', async () => {
    const own = (rendered.get(example)?.manifests ?? []).filter(({ kind }) => kind !== 'ScaledObject');
    const file = join(folder, `${example}-own.yaml`);
    await writeFile(file, own.map((manifest) => `---\n${JSON.stringify(manifest)}\n`).join(''));
    const args = ['--kubernetes-version', kubernetes, '--strict', file];
    const { code, output } = await runProgram(toolPath('kubernetes-validate'), args);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output.match(/passed for resource/g)).toHaveLength(own.length);
  }, 60_000);

  test('every process has a Deployment; every required setting is set, and everything that is set is read', () => {
    for (const { process, shape } of processes) {
      const set = environmentOf(example, process);
      const names = set.map(({ name }) => name);
      const required = Object.keys(shape).filter(
        (name) => defaultOf(shape[name] ?? z.never()) === '**required**',
      );
      expect({ process, missing: required.filter((name) => !names.includes(name)) }).toEqual({
        process,
        missing: [],
      });
      expect({ process, unread: names.filter((name) => !(name in shape)) }).toEqual({ process, unread: [] });
      expect(names).toHaveLength(new Set(names).size);
    }
  });

  test('a value is one that the service takes', () => {
    for (const { process, shape } of processes)
      for (const { name, value } of environmentOf(example, process)) {
        // The description of the source is in a file of the pod.
        if (value === undefined || name === 'SOURCE_FILE') continue;
        const error = shape[name]?.safeParse(value).error?.message;
        expect({ process, name, value, error }).toEqual({ process, name, value, error: undefined });
      }
  });

  test('secrets come from a Secret; the required ones stop a pod that lacks them', () => {
    for (const { process } of processes)
      for (const { name, value, valueFrom } of environmentOf(example, process))
        if (/(SECRET|PASSWORD|CREDENTIAL|_TOKEN|MONGODB_URI|SMTP_URL)/.test(name)) {
          expect({ name, value }).toEqual({ name, value: undefined });
          const isRequired = ['INTERNAL_SECRET', 'TOKEN_SECRET', 'SEALING_SECRET', 'MONGODB_URI']
            .concat('BOOTSTRAP_TOKEN', 'SOURCE_CREDENTIAL')
            .includes(name);
          expect({ name, ...valueFrom?.secretKeyRef }).toMatchObject({ key: name, optional: !isRequired });
        }
  });

  test('a pod runs as another user than root, writes nothing to its image, and ends after its service', () => {
    for (const pod of pods(example)) {
      const [container] = pod.containers;
      const [answering, shutdown] = ['SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'].map((setting) =>
        Number(container?.env.find(({ name }) => name === setting)?.value),
      ) as [number, number];
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        shareProcessNamespace: true,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container?.readinessProbe.httpGet.path).toBe('/readyz');
      // The control plane and two looks of a probe.
      expect(answering).toBeGreaterThanOrEqual(10_000);
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(answering + shutdown);
    }
  });

  test('only the gateway is reached from outside, and a service reaches those that it asks', () => {
    const policies = manifestsOf(example, 'NetworkPolicy');
    expect(policies).toHaveLength(serviceNames.length + source.sources.length);
    for (const { metadata, spec } of policies) {
      const own = metadata.labels[component] ?? '';
      const isGateway = own === 'gateway';
      const open = (spec.ingress ?? []).filter(
        ({ ports, from }) =>
          ports?.some(({ port }) => port === 'http') &&
          !from?.every(({ podSelector }) => podSelector) &&
          !isMetrics(from),
      );
      expect({ own, open: open.length }).toEqual({ own, open: isGateway ? 1 : 0 });
      const asked = (spec.egress ?? []).flatMap(({ to = [] }) =>
        to.flatMap(({ podSelector }) => podSelector?.matchLabels[component] ?? []),
      );
      const addresses = environmentOf(example, own).flatMap(
        ({ value = '' }) => /^http:\/\/leads-([a-z-]+):8080$/.exec(value)?.[1] ?? [],
      );
      expect({ own, asked: asked.sort() }).toEqual({ own, asked: addresses.sort() });
    }
  });

  test('each service has a disruption budget and an address', () => {
    for (const kind of ['PodDisruptionBudget', 'Service'])
      expect(
        manifestsOf(example, kind)
          .map(({ metadata }) => metadata.labels[component])
          .sort(),
      ).toEqual([...serviceNames].sort());
  });
});

function isMetrics(from: NetworkRule['from']): boolean {
  return JSON.stringify(from ?? []).includes('monitoring');
}

describe('autoscaling', () => {
  test('each ScaledObject is one of KEDA, asks for the exact lag of its service, and sets the number alone', async () => {
    const definition = await kedaDefinition();
    const objects = manifestsOf('large', 'ScaledObject');
    expect(objects).toHaveLength(5);
    for (const object of objects) {
      expect(definition.safeParse(object).error?.issues).toBeUndefined();
      const own = object.metadata.labels[component] ?? '';
      const [trigger] = object.spec.triggers ?? [];
      if (own !== 'gateway')
        expect(trigger?.metadata).toMatchObject({ query: `sum(event_log_lag_records{service="${own}"})` });
      const deployment = manifestsOf('large', 'Deployment').find(
        ({ metadata }) => metadata.labels[component] === own,
      );
      expect(deployment?.spec).not.toHaveProperty('replicas');
    }
    const misspelt = { ...objects[0], spec: { ...objects[0]?.spec, minReplicas: 1 } };
    expect(definition.safeParse(misspelt).success).toBe(false);
  }, 300_000);

  /** KEDA's own definition, from its Go module; fields that it does not know are errors. */
  async function kedaDefinition(): Promise<z.ZodType> {
    const { code, stdout, output } = await runProgram(toolPath('go'), ['mod', 'download', '-json', keda], {
      folder: tmpdir(),
    });
    if (code !== 0) throw new Error(`${keda} cannot be downloaded: ${output}`);
    const { Dir } = JSON.parse(stdout) as { Dir: string };
    const text = await readFile(join(Dir, 'config/crd/bases/keda.sh_scaledobjects.yaml'), 'utf8');
    const { spec } = parse(text) as { spec: { versions: { schema: { openAPIV3Schema: object } }[] } };
    const schema = closed(spec.versions[0]?.schema.openAPIV3Schema) as Record<string, unknown>;
    // Metadata is that of Kubernetes.
    return z.fromJSONSchema({
      ...schema,
      properties: { ...(schema['properties'] as object), metadata: { type: 'object' } },
    });
  }

  /** The schema, with no other fields than its own in each object; without the extensions of Kubernetes. */
  function closed(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(closed);
    if (typeof schema !== 'object' || schema === null) return schema;
    const entries = Object.entries(schema)
      .filter(([key]) => !key.startsWith('x-kubernetes-') && key !== 'format')
      .map(([key, value]): [string, unknown] => [key, closed(value)]);
    const isObject = 'type' in schema && schema.type === 'object' && 'properties' in schema;
    return { ...Object.fromEntries(entries), ...(isObject && { additionalProperties: false }) };
  }
});

describe('a values file that is wrong stops the installation, with the name and what is allowed', () => {
  test.each([
    ['settings.KAFKA_BROKERS=null', 'settings.KAFKA_BROKERS: Invalid type. Expected: string, given: null'],
    ['secrets.name=', 'secrets.name'],
    ['settings.KAFKA_BROKRES=kafka:9092', 'Additional property KAFKA_BROKRES is not allowed'],
    ['settings.PARTITIONS=0', 'settings.PARTITIONS: Must be greater than or equal to 1'],
    ['settings.PARTITIONS=2000', 'settings.PARTITIONS: Must be less than or equal to 1000'],
    ['settings.PARTITIONS=many', 'settings.PARTITIONS: Invalid type. Expected: integer, given: string'],
    ['settings.LOG_LEVEL=loud', 'settings.LOG_LEVEL must be one of the following: "fatal", "error", "warn"'],
    ['settings.APP_URL=leads.example.com', "settings.APP_URL: Does not match pattern '^https?://"],
    ['settings.INTERNAL_SECRET=abc', 'Additional property INTERNAL_SECRET is not allowed'],
    ['services.scoring.replicas=-1', 'services.scoring.replicas: Must be greater than or equal to 0'],
    ['services.scoring.settings.SCORING_URL=http://a', 'Additional property SCORING_URL is not allowed'],
    ['services.scorings.replicas=1', 'Additional property scorings is not allowed'],
    ['replicaCount=1', 'Additional property replicaCount is not allowed'],
    [
      'autoscaling.prometheusUrl=',
      'autoscaling.prometheusUrl: the Prometheus that has event_log_lag_records',
    ],
    [
      'autoscaling.services.scoring.maximum=49',
      'autoscaling.services.scoring.maximum must be at most settings.PARTITIONS (48)',
    ],
    [
      'autoscaling.services.share.minimum=60',
      'autoscaling.services.share: minimum must be at most maximum (48)',
    ],
    ['ingress.host=', 'ingress.host: the name by which browsers reach the gateway'],
  ])('%s', async (setting, message) => {
    const { code, output } = await helm('template', 'large', ['--set', setting]);
    expect({ failed: code !== 0, output }).toEqual({
      failed: true,
      output: expect.stringContaining(message),
    });
  });

  test('without a values file, everything that is missing is named', async () => {
    const { code, output } = await runProgram(toolPath('helm'), ['template', 'leads', chart]);
    expect(code).not.toBe(0);
    for (const name of ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'APP_URL', 'BOOTSTRAP_ORGANISATION'])
      expect(output).toContain(`settings: ${name} is required`);
    expect(output).toContain('secrets.name');
  });
});
