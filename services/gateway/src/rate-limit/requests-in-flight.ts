// Bounds the requests in flight of a credential and of an organisation at an instance: each holds a connection and memory, at any
// rate.
import type { Request, RequestHandler } from 'express';
import { callerOf } from '../edge/request.js';
import { problem } from '../problem.js';

export interface InFlightLimits {
  perCredential: number;
  perOrganisation: number;
}

/** Answers 429 while the caller has the largest allowed number of requests in flight. */
export function limitRequestsInFlight({ perCredential, perOrganisation }: InFlightLimits): RequestHandler {
  const inFlight = new Map<string, number>();
  const change = (key: string, by: number): void => {
    const now = (inFlight.get(key) ?? 0) + by;
    if (now === 0) inFlight.delete(key);
    else inFlight.set(key, now);
  };
  return (req: Request, res, next) => {
    const { credentialId, organisationId } = callerOf(req);
    const limits: [key: string, maximum: number, whose: string][] = [
      [`credential:${credentialId}`, perCredential, 'This credential'],
      [`organisation:${organisationId}`, perOrganisation, 'This organisation'],
    ];
    for (const [key, maximum, whose] of limits)
      if ((inFlight.get(key) ?? 0) >= maximum) {
        next(
          problem(
            'too_many_in_flight',
            `${whose} has ${String(maximum)} requests in flight already. Wait for their answers before sending more.`,
            { headers: { 'Retry-After': '1' } },
          ),
        );
        return;
      }
    for (const [key] of limits) change(key, 1);
    res.once('close', () => {
      for (const [key] of limits) change(key, -1);
    });
    next();
  };
}
