// docker-compose.yml against the configurations of the services: nothing that a service needs is missing, and nothing that the
// file sets goes nowhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { defaultOf, serviceNames, type ProcessSettings } from '@lead-scoring/contracts';
import { ignoredVariables } from '@lead-scoring/platform';
import { telemetrySettings } from '@lead-scoring/service';
import { parse } from 'yaml';
import { composeContainers, type ComposeContainer } from './compose-file.js';
import { processSettings } from './process-settings.js';

const checkout = join(import.meta.dirname, '../../..');
const text = readFileSync(join(checkout, 'docker-compose.yml'), 'utf8');
const overlay = readFileSync(join(checkout, 'deploy/docker-compose.sasl.yml'), 'utf8');
/** Set by the image: deploy/Dockerfile. */
const ofImage = new Set(['HOST', 'PORT']);
/** Settings whose defaults suit every deployment, or that have no meaning in a container of this file. */
const leftToDefaults = new Set([
  'ANSWER_IDLE_MS',
  'INTAKE_LEAST_BYTES',
  'PAUSE_CHANNEL_AFTER_SECONDS',
  'PROBE_CHANNEL_SECONDS',
  'READY_FILE',
  'REPLY_TIMEOUT_MS',
  'SLACK_API_URL',
  'WEBHOOKS_AT_ONCE',
  'WEBHOOKS_PER_SECOND',
]);
/** Access to servers of one's own: those of this file let their clients in. */
const ofAccess = /^(KAFKA_(TLS|SASL|OAUTH)|SCHEMA_REGISTRY_(?!URL)|MONGODB_(?!URI))/;
/** Files of a producer's authorities, which have to be mounted as well. */
const ofSourceFiles = /^SOURCE_.*_FILE$/;

let processes: ProcessSettings[];
let containers: Map<string, ComposeContainer>;
beforeAll(async () => {
  processes = await processSettings(checkout, 'sources');
  containers = new Map(composeContainers(text).map((container) => [container.name, container]));
});

test('every process has a container', () => {
  expect([...containers.keys()]).toEqual(expect.arrayContaining(processes.map(({ process }) => process)));
});

test('every required setting is set, and every other one can be', () => {
  const missing = processes.flatMap(({ process, shape }) =>
    Object.entries(shape).flatMap(([variable, schema]) => {
      if (variable in environmentOf(process) || ofImage.has(variable)) return [];
      const isLeft = leftToDefaults.has(variable) || ofAccess.test(variable) || ofSourceFiles.test(variable);
      return isLeft && defaultOf(schema) !== '**required**' ? [] : [`${process}: ${variable}`];
    }),
  );
  expect(missing).toEqual([]);
});

test('everything that is set is read by the service', () => {
  const unread = processes.flatMap(({ process, shape }) =>
    Object.keys(environmentOf(process))
      .filter((variable) => !(variable in shape) && !(variable in telemetrySettings))
      .map((variable) => `${process}: ${variable}`),
  );
  expect(unread).toEqual([]);
});

test('a value that the file gives is one that the service takes', () => {
  for (const { process, shape } of processes)
    for (const [variable, written] of Object.entries(environmentOf(process))) {
      const value = valueOf(written);
      // Not a secret's message, and not a file that the operator mounts.
      if (value === '' || written.includes(':?') || variable === 'SOURCE_FILE') continue;
      const parsed = shape[variable]?.safeParse(value);
      expect({ process, variable, value, error: parsed?.error?.message }).toMatchObject({ error: undefined });
    }
});

describe('an end and a start', () => {
  test('a container gets more time to end than its service takes at most', () => {
    for (const { process } of processes) {
      const [delay, service] = ['SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'].map((name) =>
        Number(valueOf(environmentOf(process)[name] ?? '')),
      ) as [number, number];
      const grace = containers.get(process)?.texts['stop_grace_period'] ?? '';
      const container = Number(/^(\d+)s$/.exec(grace)?.[1]) * 1_000;
      expect(service).toBeGreaterThan(0);
      expect(container).toBeGreaterThan(delay + service);
    }
  });

  test('memory and logs of every container have limits', () => {
    for (const { name, texts } of containers.values())
      expect({ name, memory: texts['mem_limit'], logging: text.includes('logging: *logging') }).toEqual({
        name,
        memory: expect.stringMatching(/\d+[mg]\}$/),
        logging: true,
      });
  });

  test('a missing secret stops `docker compose up` with the command that makes it; `npm start` needs none', () => {
    const demanded = [...text.matchAll(/\$\{(\w+):\?([^}]*)\}/g)];
    expect(new Set(demanded.map(([, variable]) => variable))).toEqual(
      new Set(['INTERNAL_SECRET', 'TOKEN_SECRET', 'SEALING_SECRET', 'BOOTSTRAP_TOKEN']),
    );
    for (const [, variable, message] of demanded) {
      expect(message).toContain('new-secrets.mjs > .env');
      expect(ignoredVariables).toHaveProperty(variable ?? '');
    }
  });

  test("Kafka's health is asked at the listener whose address holds inside the network", () => {
    expect(text).toContain('--bootstrap-server kafka:19092');
    expect(text).toContain('SERVICES://kafka:19092');
  });
});

test('a service cannot write to its container, and has no capability', () => {
  const { services } = parse(text, { merge: true }) as { services: Record<string, unknown> };
  for (const { process } of processes)
    expect(services[process]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
});

describe('with deploy/docker-compose.sasl.yml laid over it', () => {
  test('every process has a user of its own service, whom Kafka knows and the ACLs name', () => {
    const laid = new Map(composeContainers(overlay).map(({ name, environment }) => [name, environment]));
    const users = laid.get('kafka')?.['KAFKA_LISTENER_NAME_SERVICES_PLAIN_SASL_JAAS_CONFIG'] ?? '';
    for (const { process, shape } of processes) {
      const {
        KAFKA_SASL_USERNAME: user = '',
        KAFKA_SASL_PASSWORD: password = '',
        ...others
      } = laid.get(process) ?? {};
      expect(others).toEqual({ KAFKA_SASL_MECHANISM: 'plain' });
      for (const variable of Object.keys(laid.get(process) ?? {})) expect(shape).toHaveProperty(variable);
      expect(serviceNames).toContain(user);
      expect(user).toBe(process === 'kafka-source' ? 'gateway' : process);
      expect(users).toContain(`user_${user}="${password.slice(0, -1)}`);
    }
  });

  test('its containers are those of docker-compose.yml, and no listener is left that lets everybody in', () => {
    for (const { name } of composeContainers(overlay)) expect([...containers.keys()]).toContain(name);
    const kafka = composeContainers(overlay).find(({ name }) => name === 'kafka')?.environment ?? {};
    const protocols =
      kafka['KAFKA_LISTENER_SECURITY_PROTOCOL_MAP']?.split(',').map((one) => one.split(':')) ?? [];
    const listeners = containers.get('kafka')?.environment['KAFKA_LISTENERS']?.split(',') ?? [];
    expect(protocols.map(([listener]) => listener).sort()).toEqual(
      listeners.map((one) => one.split('://')[0]).sort(),
    );
    for (const [listener = '', protocol] of protocols) {
      expect(protocol).toBe('SASL_PLAINTEXT');
      expect(kafka).toHaveProperty(`KAFKA_LISTENER_NAME_${listener}_PLAIN_SASL_JAAS_CONFIG`);
    }
    expect(kafka['KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND']).toBe('false');
  });

  test('a missing password stops `docker compose up` with the command that makes it', () => {
    const demanded = [...overlay.matchAll(/\$\{(\w+):\?([^}]*)\}/g)];
    const own = ['admin', 'operator', ...serviceNames].map((user) => user.toUpperCase().replace('-', '_'));
    expect(demanded.map(([, variable]) => variable).sort()).toEqual(
      own.map((user) => `KAFKA_${user}_PASSWORD`).sort(),
    );
    for (const [, , message] of demanded) expect(message).toContain('new-secrets.mjs > .env');
  });
});

function environmentOf(process: string): Readonly<Record<string, string>> {
  return containers.get(process)?.environment ?? {};
}

/** The value where nothing is set outside: compose's own `${NAME:-default}` and `${NAME:+other}`. */
function valueOf(written: string): string {
  let value = written;
  for (let before = ''; before !== value;) {
    before = value;
    value = value.replaceAll(/\$\{\w+:-([^${}]*)\}/g, '$1').replaceAll(/\$\{\w+:\+[^${}]*\}/g, '');
  }
  return value;
}
