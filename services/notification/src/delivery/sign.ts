// Signs the bodies of webhooks as the Standard Webhooks specification says.
import { createHmac } from 'node:crypto';

const secretPrefix = 'whsec_';
const idForm = /^[A-Za-z0-9_-]+$/;

export interface SigningInput {
  /** The same for every attempt, so that a receiver recognises repeats. */
  id: string;
  /** Time of the attempt. */
  at: Date;
  body: string;
  /** Each gives a signature: during a rotation the receiver may have the new secret or the previous one. */
  secrets: readonly string[];
}

/** The three headers of the specification. */
export function signatureHeaders({ id, at, body, secrets }: SigningInput): Record<string, string> {
  if (!idForm.test(id)) throw new TypeError('a webhook-id may contain only letters, digits, - and _');
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${digest}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function keyOf(secret: string): Buffer {
  const key = secret.startsWith(secretPrefix)
    ? Buffer.from(secret.slice(secretPrefix.length), 'base64')
    : Buffer.alloc(0);
  // The specification's minimum. The message does not contain the text, which is a secret.
  if (key.length < 24)
    throw new TypeError('a signing secret must be whsec_ followed by at least 24 bytes in base64');
  return key;
}
