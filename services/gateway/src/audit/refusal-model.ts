// Counts of refused sign-ins before they are written. Pure.
import { routeDeclarations } from '@lead-scoring/contracts';

const { countsPerDay } = routeDeclarations.refusedSignInLimits;

/** A credential that was meant, and may not be used so. */
export interface MeantCredential {
  readonly kind: 'token' | 'service_account';
  readonly id: string;
  readonly organisationId: string;
  readonly ouIds: readonly string[] | null;
}

/** What is counted apart. Nothing of what was sent is in it. */
export interface RefusalKey {
  /** In UTC: 2026-01-31. */
  readonly day: string;
  /** null: of all that came after the day had its most counts. */
  readonly address: string | null;
  readonly credential: MeantCredential | null;
  readonly reason: routeDeclarations.RefusalReason | null;
}

export interface RefusalCount {
  readonly key: RefusalKey;
  readonly count: number;
  /** ISO 8601 UTC. */
  readonly lastAt: string;
}

export function refusalId({ day, address, credential, reason }: RefusalKey): string {
  return [day, address ?? 'other', credential?.id ?? '', reason ?? ''].join(' ');
}

const isOfCredential = (id: string): boolean => id.split(' ')[2] !== '';
const isOfOthers = (id: string): boolean => id.split(' ')[1] === 'other';

/** Half of the places are for known credentials, so that guesses from many addresses do not hide attempts on one that exists. */
const places = countsPerDay / 2;

/** Counts in bounded memory: those beyond the places are put together, for each known credential and for all others. */
export class RefusalCounts {
  readonly #counts = new Map<string, RefusalCount>();
  readonly #left = { known: places, unknown: places };

  /** @param stored ids of documents, which have places already */
  constructor(private readonly stored: ReadonlySet<string> = new Set()) {
    for (const id of stored) if (!isOfOthers(id)) this.#left[isOfCredential(id) ? 'known' : 'unknown'] -= 1;
  }

  add({ key, count, lastAt }: RefusalCount): void {
    const counted = this.#hasPlace(key) ? key : { ...key, address: null, reason: null };
    const id = refusalId(counted);
    const known = this.#counts.get(id);
    this.#counts.set(id, {
      key: counted,
      count: (known?.count ?? 0) + count,
      lastAt: known && known.lastAt > lastAt ? known.lastAt : lastAt,
    });
  }

  /** By the id of their document. */
  get all(): ReadonlyMap<string, RefusalCount> {
    return this.#counts;
  }

  #hasPlace(key: RefusalKey): boolean {
    const id = refusalId(key);
    if (key.address === null || this.stored.has(id) || this.#counts.has(id)) return true;
    const kind = key.credential === null ? 'unknown' : 'known';
    if (this.#left[kind] <= 0) return false;
    this.#left[kind] -= 1;
    return true;
  }
}
