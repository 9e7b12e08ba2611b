// Bounds the requests in flight of a credential and of an organisation at an instance: each holds a connection and memory, at any
// rate.
import { onceClosed, type ProblemError } from '@lead-scoring/service';
import type { Request, RequestHandler } from 'express';
import { callerOf } from '../edge/request.js';
import { problem } from '../problem.js';

export interface InFlightLimits {
  perCredential: number;
  perOrganisation: number;
}

/** Answers 429 while the caller has the largest allowed number of requests in flight. */
export function limitRequestsInFlight({ perCredential, perOrganisation }: InFlightLimits): RequestHandler {
  const credentials = new InFlightCounts('This credential', perCredential);
  const organisations = new InFlightCounts('This organisation', perOrganisation);
  return (req: Request, res, next) => {
    const { credentialId, organisationId } = callerOf(req);
    const full = credentials.refusalOf(credentialId) ?? organisations.refusalOf(organisationId);
    if (full) {
      next(full);
      return;
    }
    credentials.begin(credentialId);
    organisations.begin(organisationId);
    onceClosed(res, () => {
      credentials.end(credentialId);
      organisations.end(organisationId);
    });
    next();
  };
}

class InFlightCounts {
  /** By the id of a credential or an organisation; without those that have none in flight. */
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly whose: string,
    private readonly maximum: number,
  ) {}

  /** null while another request may begin. */
  refusalOf(id: string): ProblemError | null {
    if ((this.#counts.get(id) ?? 0) < this.maximum) return null;
    return problem(
      'too_many_in_flight',
      `${this.whose} has ${String(this.maximum)} requests in flight already. Wait for their answers before sending more.`,
      { headers: { 'Retry-After': '1' } },
    );
  }

  begin(id: string): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  end(id: string): void {
    const left = (this.#counts.get(id) ?? 0) - 1;
    if (left > 0) this.#counts.set(id, left);
    else this.#counts.delete(id);
  }
}
