// The services that own read models, and requests to their query ports in the name of one caller.
import type { ServiceName } from '@lead-scoring/contracts';
import {
  QueryPort,
  type InternalClaims,
  type QueryPortAnswer,
  type QueryPortRequest,
} from '@lead-scoring/service';

export type Owner = Exclude<ServiceName, 'gateway'>;
export type OwnerAnswer = QueryPortAnswer;

export interface OwnersOptions {
  urls: Readonly<Record<Owner, string>>;
  internalSecret: string;
  /** The longest wait for the beginning of an answer. Longer than the owner's own wait for a position. */
  timeoutMs?: number;
}

/** A POST with a body of JSON. */
export function postOf(body: object): QueryPortRequest {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** Sends a request to an owner with the claims of one caller. */
export type Ask = (owner: Owner, path: string, ownerRequest?: QueryPortRequest) => Promise<OwnerAnswer>;

export class Owners {
  readonly #ports: Readonly<Record<Owner, QueryPort>>;

  constructor({ urls, internalSecret, timeoutMs = 15_000 }: OwnersOptions) {
    const portAt = (url: string) => new QueryPort({ url, internalSecret, timeoutMs });
    this.#ports = {
      ingest: portAt(urls.ingest),
      scoring: portAt(urls.scoring),
      notification: portAt(urls.notification),
      share: portAt(urls.share),
      'site-analysis': portAt(urls['site-analysis']),
    };
  }

  /**
   * @param common defaults for every request
   * @throws ProblemError 503 when the owner is away, 504 when it is late
   */
  askAs(claims: InternalClaims, common: QueryPortRequest = {}): Ask {
    return (owner, path, ownerRequest = {}) =>
      this.#ports[owner].ask(claims, path, {
        ...common,
        ...ownerRequest,
        headers: { ...common.headers, ...ownerRequest.headers },
      });
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#ports).map((port) => port.close()));
  }
}
