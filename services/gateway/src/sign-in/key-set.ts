// The public keys of an issuer, fetched when they are needed. jose keeps them for ten minutes and fetches them again for an unknown `kid`,
// at most once in 30 s; what an issuer sends is bounded here, and one that failed is left alone for a while.
import { createRemoteJWKSet, customFetch, type FetchImplementation, type JWTVerifyGetKey } from 'jose';

export interface KeySetOptions {
  timeoutMs?: number;
  /** The time for which an issuer that failed is not asked again. */
  restMs?: number;
  maximumBytes?: number;
}

export function createKeySet(
  uri: string,
  { timeoutMs = 3_000, restMs = 10_000, maximumBytes = 256_000 }: KeySetOptions = {},
): JWTVerifyGetKey {
  let failedAt = -Infinity;
  const fetchKeys: FetchImplementation = async (url, options) => {
    if (performance.now() - failedAt < restMs) throw new Error('the issuer failed a moment ago');
    try {
      const response = await fetch(url, options);
      const body = await boundedBody(response, maximumBytes);
      if (response.status !== 200) throw new Error(`the issuer answered with ${String(response.status)}`);
      return new Response(body, { status: 200 });
    } catch (error) {
      failedAt = performance.now();
      throw error;
    }
  };
  return createRemoteJWKSet(new URL(uri), { timeoutDuration: timeoutMs, [customFetch]: fetchKeys });
}

/** @throws Error when the body is larger */
async function boundedBody(response: Response, maximumBytes: number): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    size += part.byteLength;
    // Leaving the loop ends the download.
    if (size > maximumBytes) throw new Error(`the issuer sent more than ${String(maximumBytes)} bytes`);
    parts.push(part);
  }
  return new Blob(parts);
}
