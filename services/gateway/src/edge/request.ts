// A request after authentication, and its headers.
import type { IncomingMessage } from 'node:http';
import { maximumAddress, type RecordedActor } from '@lead-scoring/contracts';
import type { Body } from '@lead-scoring/service';
import type { Request } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import type { Holding } from '../intake/bytes-in-flight.js';

/** A request with the caller that authentication has found. */
export interface GatewayRequest extends Request {
  caller?: Caller;
  /** The body, where it was read before authentication, for the write key in it. */
  keyed?: KeyedBody;
  /** Resolves once the call is counted; absent: it is not one that is counted. */
  counted?: Promise<void>;
}

/** A body that was read before its sender was known. */
export interface KeyedBody {
  body: Body;
  /** The memory of the body, counted as that of senders without a credential until its handler takes it over. */
  holding: Holding;
  /** Absent: there is none in the body. */
  writeKey?: string;
}

export function callerOf(req: GatewayRequest): Caller {
  if (!req.caller) throw new Error('this route is served without a credential');
  return req.caller;
}

/** Waits until the call is counted. Nothing of an answer may be sent before. */
export async function untilCounted({ counted }: GatewayRequest): Promise<void> {
  await counted;
}

/** The value of a header; repeated headers are joined with commas. */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The address of the client, behind as many proxies as TRUSTED_PROXIES says; an IPv4 address in its own form, also where the server
 * listens on IPv6. Undefined once the client has closed the connection.
 */
export function addressOf({ ip }: Pick<Request, 'ip'>): string | undefined {
  return ip?.replace(/^::ffff:(\d+\.)/i, '$1').slice(0, maximumAddress);
}

/** The caller with the address, for the records of what the request changes. */
export function actorOf(req: GatewayRequest): RecordedActor {
  const address = addressOf(req);
  return { ...callerOf(req).by, ...(address !== undefined && { address }) };
}
