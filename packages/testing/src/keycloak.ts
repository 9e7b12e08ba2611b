// A Keycloak of its own for a test: fetched with Maven into a cache outside of the checkout, and started with one realm in memory.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createProgress,
  freePort,
  openBuildCache,
  startGuardian,
  startProcess,
  type ProcessHandle,
} from '@lead-scoring/platform';
import { runProgram } from './run-program.js';

const version = '26.4.7';
const dependencyPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
/** Its first start compiles its configuration, which takes a minute on two busy cores. */
const startTimeoutMs = 600_000;
const administrator = { name: 'admin', password: 'of-this-test' };

export interface Keycloak {
  /** The claim `iss` of the realm's tokens. */
  issuer: string;
  jwksUri: string;
  /** The access token of a person, by their password. @throws Error with Keycloak's answer when it gives none */
  accessToken(client: string, person: { username: string; password: string }): Promise<string>;
  /** Gives the realm a new key, with which it signs from then on; the earlier ones stay valid. */
  rotateKey(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param realm in the form of Keycloak's own exports, with `realm` as its name
 * @throws Error when it cannot be installed or does not start; its message says what is missing
 */
export async function startKeycloak(realm: { realm: string } & Record<string, unknown>): Promise<Keycloak> {
  const directory = await mkdtemp(join(tmpdir(), 'lead-scoring-keycloak-'));
  const guardian = startGuardian();
  guardian.removeAfterwards(directory);
  const home = join(directory, 'keycloak');
  // A copy, because Keycloak writes its compiled configuration and its data into its own folders.
  await cp(await installed(), home, { recursive: true });
  await mkdir(join(home, 'data/import'), { recursive: true });
  await writeFile(join(home, 'data/import/realm.json'), JSON.stringify(realm));
  const [port, management] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${String(port)}`;
  const logFile = join(directory, 'keycloak.log');
  const server = await startProcess({
    name: 'keycloak',
    command: 'bash',
    args: [
      join(home, 'bin/kc.sh'),
      'start-dev',
      '--http-host=127.0.0.1',
      `--http-port=${String(port)}`,
      `--http-management-port=${String(management)}`,
      `--hostname=${url}`,
      '--db=dev-mem',
      '--import-realm',
    ],
    env: {
      KC_BOOTSTRAP_ADMIN_USERNAME: administrator.name,
      KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
      JAVA_OPTS_KC_HEAP: '-Xms128m -Xmx512m',
    },
    logFile,
    guardian,
    readyUrl: `${url}/realms/${realm.realm}/.well-known/openid-configuration`,
    readyTimeoutMs: startTimeoutMs,
  }).catch(async (error: unknown) => {
    guardian.dismiss();
    const log = await readFile(logFile, 'utf8').catch(() => '');
    throw new Error(`Keycloak does not start: ${log.slice(-2_000)}`, { cause: error });
  });
  return {
    ...realmAt(url, realm.realm),
    stop: () =>
      end(server, directory, () => {
        guardian.dismiss();
      }),
  };
}

async function end(server: ProcessHandle, directory: string, dismiss: () => void): Promise<void> {
  await server.stop();
  dismiss();
  await rm(directory, { recursive: true, force: true });
}

function realmAt(url: string, realm: string): Omit<Keycloak, 'stop'> {
  const issuer = `${url}/realms/${realm}`;
  const accessToken = (of: string, client_id: string, person: { username: string; password: string }) =>
    passwordGrant(`${url}/realms/${of}/protocol/openid-connect/token`, { client_id, ...person });
  return {
    issuer,
    jwksUri: `${issuer}/protocol/openid-connect/certs`,
    accessToken: (client, person) => accessToken(realm, client, person),
    rotateKey: async () => {
      const { name: username, password } = administrator;
      const token = await accessToken('master', 'admin-cli', { username, password });
      const response = await fetch(`${url}/admin/realms/${realm}/components`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'a new key',
          providerId: 'rsa-generated',
          providerType: 'org.keycloak.keys.KeyProvider',
          config: { priority: [String(Date.now())], algorithm: ['RS256'] },
        }),
      });
      if (!response.ok) throw new Error(`Keycloak makes no new key: ${await response.text()}`);
    },
  };
}

async function passwordGrant(address: string, form: Record<string, string>): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'password', scope: 'openid email profile', ...form });
  const response = await fetch(address, { method: 'POST', body });
  const text = await response.text();
  if (!response.ok) throw new Error(`Keycloak gives no token to ${String(form.username)}: ${text}`);
  return (JSON.parse(text) as { access_token: string }).access_token;
}

/** The folder of the unpacked distribution; the first call fetches it. */
async function installed(): Promise<string> {
  const cache = openBuildCache(
    process.env,
    createProgress(() => undefined),
  );
  const folder = await cache.part(`keycloak-distribution-${version}`, unpackInto);
  return join(folder, `keycloak-${version}`);
}

async function unpackInto(folder: string): Promise<void> {
  await provideMaven();
  const artifact = `org.keycloak:keycloak-quarkus-dist:${version}:zip`;
  const fetched = await runProgram(
    'mvn',
    [
      '--batch-mode',
      '--quiet',
      `${dependencyPlugin}:unpack`,
      `-Dartifact=${artifact}`,
      `-DoutputDirectory=${folder}`,
    ],
    // A folder without a pom.xml, which Maven would read.
    { folder },
  );
  if (fetched.code !== 0)
    throw new Error(`Keycloak ${version} could not be fetched with Maven:\n${fetched.output}`);
}

/** @throws Error when there is no Maven with a Java, and it cannot be installed */
async function provideMaven(): Promise<void> {
  const isThere = async () => (await runProgram('mvn', ['--version'])).code === 0;
  if (await isThere()) return;
  if (process.getuid?.() === 0) {
    await runProgram('apt-get', ['update', '-qq']);
    await runProgram(
      'apt-get',
      ['install', '-y', '-qq', '--no-install-recommends', 'maven', 'default-jre-headless'],
      {
        environment: { DEBIAN_FRONTEND: 'noninteractive' },
      },
    );
  }
  if (!(await isThere()))
    throw new Error(
      'The test of sign-in with Keycloak needs Maven and Java 17 or newer: install them, then try again.',
    );
}
