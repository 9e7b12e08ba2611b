// Which place a webhook channel's signing secret is sealed for: said once for the service that seals it and the one that opens it.

/** @param keyId of the key that the secret is */
export function signingContext(keyId: string): string {
  return `signing:${keyId}`;
}
