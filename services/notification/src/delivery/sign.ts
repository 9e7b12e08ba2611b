// Signs what webhooks receive, after the Standard Webhooks specification.
import { createHmac } from 'node:crypto';

const secretPrefix = 'whsec_';
const idForm = /^[A-Za-z0-9_-]+$/;

export interface ToSign {
  /** The same for every attempt: a receiver knows repeats by it. */
  id: string;
  /** Of the attempt. */
  at: Date;
  body: string;
  /** Each signs: while a secret is being exchanged, the receiver may hold either. */
  secrets: readonly string[];
}

/** The three headers of the specification. */
export function signatureHeaders({ id, at, body, secrets }: ToSign): Record<string, string> {
  if (!idForm.test(id)) throw new TypeError('a webhook-id holds letters, digits, - and _ only');
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
  // The specification's least. The text itself is in no message: it is a secret.
  if (key.length < 24) throw new TypeError('a signing secret is whsec_ and at least 24 bytes in base64');
  return key;
}
