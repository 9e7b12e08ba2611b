// Explains why MongoDB refuses this process, and names the setting to change.
import { ReadModelError } from './errors.js';

const authenticationFailed = 18;
const unauthorised = 13;

/** The same error with its cause and the setting to change, when they are known. */
export function withRemedy(error: unknown): unknown {
  if (!(error instanceof ReadModelError)) return error;
  const faults = faultsOf(error);
  const problem = problemOf(faults);
  if (problem === undefined) return error;
  return new ReadModelError(error.code, problem, error.retriable, {
    cause: error,
    isAccessRefused: refusesPassword(faults) || demandsUser(faults),
  });
}

interface Fault {
  code: unknown;
  message: string;
}

function refusesPassword(faults: readonly Fault[]): boolean {
  return faults.some(
    ({ code, message }) => code === authenticationFailed || /authentication failed/i.test(message),
  );
}

function demandsUser(faults: readonly Fault[]): boolean {
  return faults.some(({ message }) => /requires authentication/i.test(message));
}

/** Undefined for an error of another kind. The text never contains MONGODB_URI, which holds the password. */
function problemOf(faults: readonly Fault[]): string | undefined {
  const text = faults.map(({ code, message }) => `${String(code)} ${message}`).join('\n');
  if (refusesPassword(faults))
    return 'MongoDB refuses the user or the password: check those in MONGODB_URI, and its authSource';
  if (demandsUser(faults) || faults.some(({ code }) => code === unauthorised) || /not authorized/i.test(text))
    return 'MongoDB demands a user, or this one may not use the database: MONGODB_URI should be mongodb://USER:PASSWORD@HOST, with a user that has readWrite on the databases that begin with NAMESPACE';
  if (/self[- ]signed certificate|unable to (verify the first|get (local )?issuer) certificate/i.test(text))
    return "MongoDB's certificate is not signed by an authority that is trusted here: set MONGODB_CA_FILE to the PEM file of the authority that signed it";
  if (/does not match certificate/i.test(text))
    return "MongoDB's certificate is for another name than the one in MONGODB_URI: use a name that is in the certificate";
  if (/alert (certificate required|bad certificate|handshake failure)/i.test(text))
    return 'MongoDB asks for a certificate of its clients: set MONGODB_CERTIFICATE_KEY_FILE to a PEM file with one that it trusts, and its key';
  if (/wrong version number|packet length too long|socket disconnected before secure TLS/i.test(text))
    return 'MongoDB does not speak TLS there: unset MONGODB_CA_FILE, and take tls=true out of MONGODB_URI';
  if (/connection \S+ to \S+ closed|ECONNRESET/i.test(text))
    return 'MongoDB closes the connection. If this continues, it speaks TLS: set MONGODB_CA_FILE, or tls=true in MONGODB_URI for a public authority';
  return undefined;
}

/** The error, its causes, and the driver's error for each server. */
function faultsOf(error: unknown, depth = 0): Fault[] {
  if (typeof error !== 'object' || error === null || depth > 8) return [];
  const { code, message, cause, reason } = error as Record<string, unknown>;
  const servers = (reason as { servers?: Map<string, { error?: unknown }> } | undefined)?.servers;
  return [
    { code, message: typeof message === 'string' ? message : '' },
    ...faultsOf(cause, depth + 1),
    ...[...(servers?.values() ?? [])].flatMap((server) => faultsOf(server.error, depth + 1)),
  ];
}
