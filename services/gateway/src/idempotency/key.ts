// The header Idempotency-Key, and the ids that are derived from it.
import { randomUUID } from 'node:crypto';
import { nameBasedId } from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';

const form = /^[\x21-\x7e]{1,255}$/;

/** @throws ProblemError 400 when the header is there and is not 1 to 255 printable ASCII characters without spaces */
export function idempotencyKeyOf(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (form.test(header)) return header;
  throw new ProblemError(
    400,
    'invalid_request',
    'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.',
    {
      errors: [
        {
          path: 'headers.idempotency-key',
          message: 'must be 1 to 255 printable ASCII characters without spaces',
        },
      ],
    },
  );
}

/**
 * The id of a write: the same for the same key of the same credential and route, in every instance and for ever; random
 * without a key.
 */
export function writeId(credentialId: string, routeName: string, key: string | null): string {
  return key === null ? randomUUID() : nameBasedId(credentialId, `idempotency:${routeName}:${key}`);
}
