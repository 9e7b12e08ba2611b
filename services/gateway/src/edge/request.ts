// A request after authentication, and its headers.
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { Caller } from '../credentials/authenticate.js';

/** A request with the caller that authentication has found. */
export interface GatewayRequest extends Request {
  caller?: Caller;
}

export function callerOf(req: GatewayRequest): Caller {
  if (!req.caller) throw new Error('this route is served without a credential');
  return req.caller;
}

/** The value of a header; repeated headers are joined with commas. */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
