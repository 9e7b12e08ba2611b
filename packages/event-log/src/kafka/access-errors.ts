// Explains why Kafka or the schema registry refuses this process, and names the setting to change.
import { reasonOf, type ServerAccess } from '@lead-scoring/contracts';
import { EventLogUnavailable } from '../errors.js';

interface Fault {
  /** The code of Node.js' error or of the protocol's. */
  code: string;
  message: string;
  /** Set on errors of this package; see EventLogUnavailable. */
  isAccessRefused: boolean;
}

/** The error and its causes, the outermost first. */
function faultsOf(error: unknown): Fault[] {
  const faults: Fault[] = [];
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
    const { code, type, message, cause, originalError, isAccessRefused } = at as Record<string, unknown>;
    const named = typeof type === 'string' ? type : typeof code === 'string' ? code : '';
    faults.push({
      code: named,
      message: typeof message === 'string' ? message : '',
      isAccessRefused: isAccessRefused === true,
    });
    at = cause ?? originalError;
  }
  return faults;
}

const untrusted =
  /self[- ]signed certificate|unable to (verify the first|get (local )?issuer) certificate|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO/i;
const otherName = /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate/i;
const wantsCertificate = /alert (certificate required|bad certificate|handshake failure|number (116|42|40))/i;
const notTls = /wrong version number|packet length too long|EPROTO|socket disconnected before secure TLS/i;

const unsupportedMechanism = /SASL (\S+) mechanism is not supported/i;
const failedAuthentication = /SASL_AUTHENTICATION_FAILED|authentication failed/i;

function tlsProblem(text: string, caVariable: string): string | undefined {
  if (untrusted.test(text))
    return `its certificate is not signed by an authority that is trusted here: set ${caVariable} to the PEM file of the authority that signed it`;
  if (otherName.test(text))
    return 'its certificate is for another name than the one that it is reached by: use a name that is in the certificate';
  return undefined;
}

/**
 * Explains why Kafka refuses this process, and names the setting to change; undefined for an error of another kind.
 * @param access the current settings
 */
export function kafkaProblem(error: unknown, access: ServerAccess): string | undefined {
  const faults = faultsOf(error);
  const text = faults.map(({ code, message }) => `${code} ${message}`).join('\n');
  const unauthorised = faults.find(({ code }) => code.endsWith('_AUTHORIZATION_FAILED'));
  if (unauthorised)
    return `Kafka does not authorise ${principalOf(access)} (${unauthorised.code}): \`lead-scoring acls\` prints the rights that each service needs`;
  const mechanism = unsupportedMechanism.exec(text)?.[1];
  if (mechanism !== undefined || /UNSUPPORTED_SASL_MECHANISM/.test(text))
    return `Kafka does not accept the SASL mechanism ${mechanism ?? String(access.KAFKA_SASL_MECHANISM)}: set KAFKA_SASL_MECHANISM to one that its listener has`;
  const ofToken = faults.find(({ message }) => message.includes('KAFKA_OAUTH_'));
  if (ofToken) return ofToken.message;
  if (failedAuthentication.test(text))
    return access.KAFKA_SASL_MECHANISM === 'oauthbearer'
      ? 'Kafka refuses the token that KAFKA_OAUTH_TOKEN_URL gives: check KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_SCOPE and what the brokers expect of a token'
      : 'Kafka refuses the user or the password: check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM';
  const tls = tlsProblem(text, 'KAFKA_TLS_CA_FILE');
  if (tls !== undefined) return `Kafka: ${tls}`;
  if (wantsCertificate.test(text))
    return 'Kafka requires a client certificate, and got none or refuses it: set KAFKA_TLS_CERTIFICATE_FILE and KAFKA_TLS_KEY_FILE to one that the brokers trust';
  if (notTls.test(text) && access.KAFKA_TLS === true)
    return 'Kafka does not speak TLS on this listener: set KAFKA_TLS=false, or name another port in KAFKA_BROKERS';
  return closedProblem(text, access);
}

/** Whether Kafka, or the server of its tokens, answered and refused the credentials: not whether it is away. */
export function isAccessRefused(error: unknown): boolean {
  const faults = faultsOf(error);
  return faults.some(
    ({ code, message, isAccessRefused: isMarked }) =>
      isMarked ||
      code === 'UNSUPPORTED_SASL_MECHANISM' ||
      unsupportedMechanism.test(message) ||
      failedAuthentication.test(`${code} ${message}`),
  );
}

/** An EventLogUnavailable whose message names the setting to change, when it is known, or the addresses without an answer. */
export function unavailable(
  message: string,
  error: unknown,
  { access, brokers }: { access?: ServerAccess | undefined; brokers: readonly string[] },
): EventLogUnavailable {
  const problem = kafkaProblem(error, access ?? {}) ?? absenceProblem(error, brokers);
  return new EventLogUnavailable(problem === undefined ? message : `${message}: ${problem}`, error, {
    isAccessRefused: isAccessRefused(error),
  });
}

const noConnection =
  /Broker not connected|Connection (error|timeout)|Failed to connect|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/;

/** Names the addresses at which a broker was expected, when none could be connected to. */
function absenceProblem(error: unknown, brokers: readonly string[]): string | undefined {
  const fault = faultsOf(error).find(({ code, message }) => noConnection.test(`${code} ${message}`));
  if (!fault) return undefined;
  return `no Kafka broker can be connected to at ${brokers.join(', ')}, which KAFKA_BROKERS names (${reasonOf(new Error(fault.message))})`;
}

/** A broker closes a connection without an error when the client uses the wrong protocol. */
function closedProblem(text: string, access: ServerAccess): string | undefined {
  const timedOut = /Request ApiVersions/i.test(text) && /timed out/i.test(text);
  if (!timedOut && !/closed connection|ECONNRESET/i.test(text)) return undefined;
  const missing = [
    ...(access.KAFKA_SASL_MECHANISM === undefined
      ? ['it demands SASL: set KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD']
      : []),
    ...(access.KAFKA_TLS === true
      ? []
      : ['it speaks TLS: set KAFKA_TLS=true, and KAFKA_TLS_CA_FILE for an authority of your own']),
  ];
  if (missing.length === 0) return undefined;
  return `Kafka closes the connection. If this continues, ${missing.join('; or ')}`;
}

function principalOf({ KAFKA_SASL_USERNAME, KAFKA_OAUTH_CLIENT_ID }: ServerAccess): string {
  const user = KAFKA_SASL_USERNAME ?? KAFKA_OAUTH_CLIENT_ID;
  return user === undefined ? 'an anonymous client' : `the user ${user}`;
}

/**
 * Explains why the schema registry refuses this process, and names the setting to change.
 * @param error the thrown error, or the answered status
 */
export function registryProblem(error: unknown, access: ServerAccess): string {
  if (typeof error === 'number') {
    const isNamed =
      access.SCHEMA_REGISTRY_USERNAME !== undefined || access.SCHEMA_REGISTRY_TOKEN !== undefined;
    const what = isNamed ? 'refuses our credentials' : 'demands credentials';
    return `the schema registry ${what} (${error}): check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN`;
  }
  const faults = faultsOf(error);
  const text = faults.map(({ code, message }) => `${code} ${message}`).join('\n');
  const tls = tlsProblem(text, 'SCHEMA_REGISTRY_CA_FILE');
  if (tls !== undefined) return `the schema registry: ${tls}`;
  if (notTls.test(text))
    return 'the schema registry does not speak TLS there: SCHEMA_REGISTRY_URL should start with http://';
  return `the schema registry does not answer: ${reasonOf(error)}`;
}
