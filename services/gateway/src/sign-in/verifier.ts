// Verifies JSON Web Tokens of the configured issuers. What is pinned: the issuer, the audience, the algorithms, and the keys of that issuer.
// Nothing else in a token's header is followed: `jku`, `x5u` and the text of `kid` lead nowhere.
import { secretHashOf } from '@lead-scoring/contracts';
import { createBoundedCache } from '@lead-scoring/read-model';
import { decodeJwt, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import type { Issuer } from './issuers.js';
import { createKeySet, type KeySetOptions } from './key-set.js';

/** A person, as their issuer names them. */
export interface Identity {
  issuer: string;
  email: string;
  name: string;
  /** What may be done with a person who is no member. */
  create: Issuer['create'];
}

export interface TokenVerifier {
  /** Whether the token was verified a moment ago, so that it needs no signature checked. */
  isKnown(token: string): boolean;
  /** null: the token is not valid here, for whatever reason. */
  verify(token: string): Promise<Identity | null>;
}

interface Verified {
  identity: Identity;
  /** Epoch milliseconds. */
  until: number;
}

/** By how much the clock of an issuer may differ. */
const toleratedSeconds = 30;
/** A key that an issuer has withdrawn lets nobody in for longer than jose keeps it and this. */
const keptMs = 60_000;
const maximumKept = 10_000;

export function createTokenVerifier(
  issuers: readonly Issuer[],
  { clock = Date.now, ...options }: KeySetOptions & { clock?: () => number } = {},
): TokenVerifier {
  const known = new Map(
    issuers.map((issuer) => [issuer.issuer, { issuer, keys: createKeySet(issuer.jwks_uri, options) }]),
  );
  // By the hash, so that no token stays in memory.
  const verified = createBoundedCache<Verified>({ maximumEntries: maximumKept });
  const kept = (token: string): Verified | undefined => {
    const found = verified.get(secretHashOf(token));
    return found && found.until > clock() ? found : undefined;
  };
  return {
    isKnown: (token) => kept(token) !== undefined,
    verify: async (token) => {
      const found = kept(token);
      if (found) return found.identity;
      const named = known.get(issuerNamedIn(token) ?? '');
      const payload = named && (await verifiedPayload(token, named, clock));
      const identity = payload && identityIn(payload, named.issuer);
      if (!identity) return null;
      const expiresAt = ((payload.exp ?? 0) + toleratedSeconds) * 1_000;
      verified.set(secretHashOf(token), { identity, until: Math.min(clock() + keptMs, expiresAt) });
      return identity;
    },
  };
}

/** The issuer that the token claims to be of, not verified yet: it only chooses the keys. */
function issuerNamedIn(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

async function verifiedPayload(
  token: string,
  { issuer, keys }: { issuer: Issuer; keys: JWTVerifyGetKey },
  clock: () => number,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: issuer.algorithms,
      clockTolerance: toleratedSeconds,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(clock()),
    });
    return payload;
  } catch {
    // The caller learns no reason: neither of the token, nor of the issuer.
    return undefined;
  }
}

const address = /^[^\s@]+@[^\s@]+$/;

function identityIn(payload: JWTPayload, { issuer, claim, create }: Issuer): Identity | null {
  const email = payload[claim];
  if (typeof email !== 'string' || email.length > 254 || !address.test(email)) return null;
  // Anybody can write somebody else's address into their profile: the issuer must have checked it.
  if (claim === 'email' && payload.email_verified !== true) return null;
  return { issuer, email: email.toLowerCase(), name: nameIn(payload, email), create };
}

function nameIn({ name }: JWTPayload, email: string): string {
  // oxlint-disable-next-line no-control-regex
  const shown = typeof name === 'string' ? name.replace(/[\u0000-\u001f\u007f]/g, ' ').trim() : '';
  return (shown === '' || !shown.isWellFormed() ? email : shown).slice(0, 100).trim().toWellFormed();
}
