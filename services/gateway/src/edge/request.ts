// What is known of a request once it is let in.
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { Caller } from '../credentials/authenticate.js';

/** A request with what the steps before have found out about it. */
export interface GatewayRequest extends Request {
  caller?: Caller;
}

export function callerOf(req: GatewayRequest): Caller {
  if (!req.caller) throw new Error('this route is served without a credential');
  return req.caller;
}

/** A header that may come once; Node joins repeated ones with commas. */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
