// The id that all brokers of a cluster share.
import { randomBytes } from 'node:crypto';

/** A Kafka cluster id: 16 random bytes. It does not begin with a dash, which Kafka's tools take for an option. */
export function randomClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url');
    if (!id.startsWith('-')) {
      return id;
    }
  }
}
