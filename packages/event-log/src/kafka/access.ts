// TLS and authentication for Kafka and the schema registry: converts the settings, and the files that they name, for
// the clients.
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ServerAccess, ServerAccessVariable } from '@lead-scoring/contracts';
import kafkajs, { type KafkaConfig, type SASLOptions } from 'kafkajs';
import { asError, EventLogError, EventLogUnavailable } from '../errors.js';

/** The `ssl` and `sasl` parts of kafkajs' configuration. */
export function kafkaSecurity(access: ServerAccess): Pick<KafkaConfig, 'ssl' | 'sasl'> {
  const sasl = saslOf(access);
  return { ...(access.KAFKA_TLS === true && { ssl: tlsOf(access) }), ...(sasl && { sasl }) };
}

function tlsOf(access: ServerAccess): ConnectionOptions {
  const ca = contentOf(access, 'KAFKA_TLS_CA_FILE');
  const cert = contentOf(access, 'KAFKA_TLS_CERTIFICATE_FILE');
  const key = contentOf(access, 'KAFKA_TLS_KEY_FILE');
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

function saslOf(access: ServerAccess): SASLOptions | undefined {
  const mechanism = access.KAFKA_SASL_MECHANISM;
  if (mechanism === undefined) return undefined;
  if (mechanism === 'oauthbearer')
    return { mechanism, oauthBearerProvider: () => tokenOrPermanentError(access) };
  const { KAFKA_SASL_USERNAME: username = '', KAFKA_SASL_PASSWORD: password = '' } = access;
  return { mechanism, username, password };
}

/**
 * kafkajs would retry any other error on the same connection, and then report only that the broker did not expect it.
 */
async function tokenOrPermanentError(access: ServerAccess): Promise<{ value: string }> {
  try {
    return { value: await oauthToken(access) };
  } catch (error) {
    throw Object.assign(new kafkajs.KafkaJSNonRetriableError(asError(error).message), { cause: error });
  }
}

/** Requests a token by the client credentials grant (RFC 6749, 4.4). kafkajs requests one for each connection. */
async function oauthToken(access: ServerAccess): Promise<string> {
  const {
    KAFKA_OAUTH_TOKEN_URL: url = '',
    KAFKA_OAUTH_CLIENT_ID: id = '',
    KAFKA_OAUTH_CLIENT_SECRET: secret = '',
    KAFKA_OAUTH_SCOPE: scope,
  } = access;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) });
  const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: form,
    signal: AbortSignal.timeout(10_000),
  }).catch((error: unknown) => {
    throw new EventLogUnavailable('the server of KAFKA_OAUTH_TOKEN_URL does not answer', error);
  });
  const body = (await response.json().catch(() => ({}))) as { access_token?: unknown };
  if (!response.ok || typeof body.access_token !== 'string')
    throw new EventLogUnavailable(
      `the server of KAFKA_OAUTH_TOKEN_URL answered ${response.status} and no access_token: check KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET`,
      undefined,
      { isAccessRefused: response.status >= 400 && response.status < 500 && response.status !== 429 },
    );
  return body.access_token;
}

export interface RegistryAccess {
  /** The authorization header of each request; absent without credentials. */
  headers: { authorization?: string };
  /** The certificate authorities that are trusted. */
  ca?: Buffer;
}

export function registryAccess(access: ServerAccess): RegistryAccess {
  const ca = contentOf(access, 'SCHEMA_REGISTRY_CA_FILE');
  const { SCHEMA_REGISTRY_TOKEN: token, SCHEMA_REGISTRY_USERNAME: username = '' } = access;
  const { SCHEMA_REGISTRY_PASSWORD: password } = access;
  const authorization =
    token !== undefined
      ? `Bearer ${token}`
      : password !== undefined
        ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
        : undefined;
  return { headers: authorization === undefined ? {} : { authorization }, ...(ca && { ca }) };
}

function contentOf(
  access: ServerAccess,
  variable: ServerAccessVariable & `${string}_FILE`,
): Buffer | undefined {
  const path = access[variable];
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new EventLogError(
      'invalid_settings',
      `${variable} names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
      { cause: error },
    );
  }
}
