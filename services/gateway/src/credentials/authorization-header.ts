// Reads the header Authorization: which credential is presented, without any look-up.
import { isWellFormedSecret } from '@lead-scoring/contracts';

export type PresentedCredential =
  { kind: 'token'; secret: string } | { kind: 'service_account'; clientId: string; secret: string };

const clientIdForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * `Bearer lsp_…` or HTTP Basic with a client id and `lss_…`. A secret whose checksum is wrong is refused here.
 * @returns null for anything else, with nothing said about what was wrong
 */
export function presentedCredential(header: string): PresentedCredential | null {
  const space = header.indexOf(' ');
  const scheme = header.slice(0, space).toLowerCase();
  const value = header.slice(space + 1).trim();
  switch (scheme) {
    case 'bearer':
      return isWellFormedSecret('lsp_', value) ? { kind: 'token', secret: value } : null;
    case 'basic': {
      const pair = Buffer.from(value, 'base64').toString();
      const colon = pair.indexOf(':');
      const [clientId, secret] = [pair.slice(0, colon), pair.slice(colon + 1)];
      return clientIdForm.test(clientId) && isWellFormedSecret('lss_', secret)
        ? { kind: 'service_account', clientId: clientId.toLowerCase(), secret }
        : null;
    }
    default:
      return null;
  }
}
