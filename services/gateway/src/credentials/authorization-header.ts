// Parses the header Authorization into a credential, without any look-up.
import { isWellFormedSecret } from '@lead-scoring/contracts';

export type PresentedCredential =
  | { kind: 'token'; secret: string }
  | { kind: 'json_web_token'; token: string }
  | { kind: 'service_account'; clientId: string; secret: string };

/** A header without a well-formed credential, and advice on what to change. */
export interface NotPresented {
  kind: 'none';
  advice: string;
}

const clientIdForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * `Bearer lsp_…`, or HTTP Basic with a client id and `lss_…`, or with the two as a write key. A secret whose checksum is wrong is refused here; the
 * advice concerns only the form, and reveals nothing about existing credentials.
 */
export function presentedCredential(header: string): PresentedCredential | NotPresented {
  const space = header.indexOf(' ');
  const scheme = header.slice(0, Math.max(0, space)).toLowerCase();
  const value = header.slice(space + 1).trim();
  switch (scheme) {
    case 'bearer':
      return bearer(value);
    case 'basic':
      return basic(value);
    case '':
      return withoutScheme(value);
    default:
      return none(
        'Authorization takes the schemes Bearer (a token) and Basic (a service account), no other.',
      );
  }
}

/** Three parts in base64url with dots between them, of which the last may be empty. Its length is bounded before. */
const jsonWebToken = /^[\w-]{1,4000}\.[\w-]{1,12000}\.[\w-]{0,4000}$/;

const asBasic =
  "Send a service account's secret (lss_…) with HTTP Basic: the client id as the user and the secret as the password.";

function bearer(value: string): PresentedCredential | NotPresented {
  if (isWellFormedSecret('lsp_', value)) return { kind: 'token', secret: value };
  if (jsonWebToken.test(value)) return { kind: 'json_web_token', token: value };
  if (value.startsWith('lss_')) return none(asBasic);
  if (value.startsWith('lsp_'))
    return none(
      'The token is mistyped or cut off: it must be lsp_ and 36 letters and digits, the last six of which are a checksum. Copy it whole.',
    );
  return none(
    'After "Bearer " must come a personal access token, which begins with lsp_, or a JSON Web Token of a configured issuer.',
  );
}

/** The header that says the same as a write key in a body. */
export function authorizationOfWriteKey(writeKey: string): string {
  return `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`;
}

function basic(value: string): PresentedCredential | NotPresented {
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  const [user, password] = [pair.slice(0, Math.max(0, colon)), pair.slice(colon + 1)];
  // A write key: the client id and the secret with a dot between them, as the user, without a password.
  const dot = user.indexOf('.');
  const [clientId, secret] =
    password === '' && dot !== -1 ? [user.slice(0, dot), user.slice(dot + 1)] : [user, password];
  if (clientIdForm.test(clientId) && isWellFormedSecret('lss_', secret))
    return { kind: 'service_account', clientId: clientId.toLowerCase(), secret };
  if (clientId.startsWith('lsp_') || secret.startsWith('lsp_'))
    return none('Send a personal access token without HTTP Basic: "Authorization: Bearer lsp_…".');
  if (!clientIdForm.test(clientId))
    return none(
      'HTTP Basic must be base64 of <client id>:<secret>, with the client id (a UUID) as the user. A write key is <client id>.<secret>.',
    );
  return none(
    'The secret is mistyped or cut off: it must be lss_ and 36 letters and digits, the last six of which are a checksum. Copy it whole.',
  );
}

function withoutScheme(value: string): NotPresented {
  if (value.startsWith('lsp_'))
    return none('Write "Bearer " before the token: "Authorization: Bearer lsp_…".');
  if (value.startsWith('lss_')) return none(asBasic);
  return none(
    'Authorization must be "Bearer " and a token, or "Basic " and base64 of <client id>:<secret> of a service account.',
  );
}

function none(advice: string): NotPresented {
  return { kind: 'none', advice };
}
