// (n) What it costs the gateway to know its caller: the same requests by a personal token and by a JSON Web Token of an OpenID Connect
// issuer, whose key and which itself the gateway has seen before.
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startGatewayAlone } from './contenders/whole-system.js';
import type { LoadGenerator } from './load/load-generator.js';
import { interleaved } from './rounds.js';

export interface SigningInSizes {
  warmUpMs: number;
  turnMs: number;
}

export interface SigningInResult {
  /** The personal token, then the JSON Web Token. */
  callers: { name: string; rounds: { requestsPerSecond: number; cpuPerRequestUs: number }[] }[];
}

const turnsInRound = 5;
const connections = 16;
const audience = 'lead-scoring';
const keyId = 'benchmark';
/** Answered by the gateway itself. */
const path = '/org-units';
/** More requests than the gateway answers in a millisecond. */
const mostPerMs = 20;

export async function measureSigningIn(
  endpoints: PlatformEndpoints,
  generator: LoadGenerator,
  { warmUpMs, turnMs }: SigningInSizes,
  rounds: number,
  say: (message: string) => void,
): Promise<SigningInResult> {
  const issuer = await startIssuer();
  try {
    const gateway = await startGatewayAlone(endpoints, {
      OIDC_ISSUERS: JSON.stringify([
        { issuer: issuer.url, audience, jwks_uri: issuer.url, create: { role: 'admin' } },
      ]),
    });
    try {
      const callers = [
        { name: 'personal token', token: gateway.token },
        { name: 'JSON Web Token', token: issuer.tokenOf('ada@example.com') },
      ];
      const measure = async ({ token }: (typeof callers)[number], forMs: number) => {
        const target = { ...gateway.target, headers: { authorization: `Bearer ${token}` } };
        const before = gateway.cpuSeconds();
        const startedAt = performance.now();
        const { latencies } = await generator.perform({
          do: 'read',
          target,
          paths: new Array<string>(forMs * mostPerMs).fill(path),
          connections,
          forMs,
          atLeast: 1,
        });
        return {
          requestsPerSecond: latencies.count / ((performance.now() - startedAt) / 1_000),
          cpuPerRequestUs: ((gateway.cpuSeconds() - before) * 1_000_000) / latencies.count,
        };
      };
      for (const caller of callers) await measure(caller, warmUpMs);
      const measured = await interleaved(
        callers,
        rounds * turnsInRound,
        (caller) => measure(caller, turnMs),
        {
          say,
          describe: ({ requestsPerSecond, cpuPerRequestUs }) =>
            `${Math.round(requestsPerSecond)} requests/s, ${cpuPerRequestUs.toFixed(1)} µs a request`,
        },
      );
      return { callers: measured };
    } finally {
      await gateway.stop();
    }
  } finally {
    issuer.stop();
  }
}

interface RunningIssuer {
  url: string;
  tokenOf(email: string): string;
  stop(): void;
}

/** An issuer that publishes one key. */
async function startIssuer(): Promise<RunningIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: 'RS256', use: 'sig' };
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [key] })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    tokenOf: (email) =>
      signedToken(privateKey, { iss: url, aud: audience, sub: email, email, email_verified: true }),
    stop: () => stopListening(server),
  };
}

function signedToken(key: KeyObject, claims: object): string {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const content = [
    part({ alg: 'RS256', kid: keyId, typ: 'JWT' }),
    part({ ...claims, iat: issuedAt, exp: issuedAt + 86_400 }),
  ].join('.');
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

function stopListening(server: Server): void {
  server.closeAllConnections();
  server.close();
}
