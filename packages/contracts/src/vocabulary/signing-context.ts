// The sealing context of a webhook channel's signing secret. The service that seals the secret and the service that
// unseals it both take it from here.

/** @param keyId id of the signing key */
export function signingContext(keyId: string): string {
  return `signing:${keyId}`;
}
