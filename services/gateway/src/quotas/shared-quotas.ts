// The quotas that all gateway instances share in MongoDB: exact for any number of instances. Requests that wait while an update is under
// way are taken together in the next one.
import { randomUUID } from 'node:crypto';
import { usagePlaceOf } from '@lead-scoring/contracts';
import { isRetriable, type ReadModel } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseGate } from '../database-gate.js';
import { quotaIdOf, quotaUses, takePipeline } from './quota-documents.js';
import { usedOf, type QuotaLimits, type QuotaResource } from './quota-model.js';

/** The quotas of an organisation or a credential on one resource. */
export interface OwnedQuota {
  /** `organisation:<id>` or `credential:<id>`. */
  owner: string;
  resource: QuotaResource;
  limits: QuotaLimits;
}

export interface QuotaOutcome {
  granted: boolean;
  /** What all instances have taken by then, on the day and in the month. */
  dayUsed: number;
  monthUsed: number;
  /** Whether the database has answered; else nothing is known of what others have taken. */
  isStored: boolean;
  /** The moment of the request, which names the day and the month. */
  at: number;
}

export interface SharedQuotas {
  /** Takes n, or nothing where fewer are left. While the database is away everything is granted, and taken when it is back. Never rejects. */
  take(quota: OwnedQuota, n: number): Promise<QuotaOutcome>;
  /** Puts back what a request has taken that is refused after all. */
  giveBack(quota: OwnedQuota, n: number, outcome: QuotaOutcome): void;
}

export interface SharedQuotasOptions {
  readModel: Pick<ReadModel, 'collection'>;
  gate: DatabaseGate;
  logger: Logger;
  clock?: () => number;
}

const retryMs = 1_000;
const dayMs = 86_400_000;

export function createSharedQuotas(options: SharedQuotasOptions): SharedQuotas {
  const processId = randomUUID();
  const clock = options.clock ?? Date.now;
  const days = new Map<string, TakenOfDay>();
  const dayOf = ({ owner, resource }: OwnedQuota, at: number): TakenOfDay => {
    const { day } = usagePlaceOf(at);
    const key = `${owner} ${resource} ${String(day)}`;
    const known = days.get(key);
    if (known) return known;
    for (const [other, taken] of days) if (taken.day < day - dayMs && taken.isSettled) days.delete(other);
    const taken = new TakenOfDay(quotaIdOf(owner, resource, at), day, processId, options);
    days.set(key, taken);
    return taken;
  };
  return {
    take: async (quota, n) => {
      const at = clock();
      return { ...(await dayOf(quota, at).take(quota.limits, n)), at };
    },
    giveBack: (quota, n, { at }) => {
      dayOf(quota, at).giveBack(n);
    },
  };
}

interface Waiting {
  n: number;
  resolve: (outcome: Omit<QuotaOutcome, 'at'>) => void;
}

/** What this process has taken of one quota on one day. */
class TakenOfDay {
  #taken = 0;
  #writes = 0;
  #waiting: Waiting[] = [];
  #limits: QuotaLimits = { day: null, month: null };
  /** Whether the database does not have `#taken` yet. */
  #isOwing = false;
  #isRunning = false;

  constructor(
    private readonly documentId: string,
    readonly day: number,
    private readonly processId: string,
    private readonly options: SharedQuotasOptions,
  ) {}

  get isSettled(): boolean {
    return !this.#isRunning && !this.#isOwing;
  }

  take(limits: QuotaLimits, n: number): Promise<Omit<QuotaOutcome, 'at'>> {
    this.#limits = limits;
    return new Promise((resolve) => {
      this.#waiting.push({ n, resolve });
      if (!this.#isRunning) void this.#run();
    });
  }

  giveBack(n: number): void {
    this.#taken -= n;
    this.#isOwing = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0 || this.#isOwing) {
      const waiting = this.#waiting.splice(0);
      const isStored = await this.#takeTogether(waiting);
      if (!isStored && this.#waiting.length === 0) await delay(retryMs, undefined, { ref: false });
    }
    this.#isRunning = false;
  }

  /** All together if they fit, else one after the other. @returns whether the database has answered */
  async #takeTogether(waiting: readonly Waiting[]): Promise<boolean> {
    const all = await this.#update(waiting.reduce((sum, { n }) => sum + n, 0));
    if (all.granted || waiting.length < 2) {
      for (const { resolve } of waiting) resolve(all);
      return all.isStored;
    }
    let isStored = all.isStored;
    for (const { n, resolve } of waiting) {
      const one = await this.#update(n);
      isStored = one.isStored;
      resolve(one);
    }
    return isStored;
  }

  async #update(wanted: number): Promise<Omit<QuotaOutcome, 'at'>> {
    const { readModel, gate, logger } = this.options;
    const before = this.#taken;
    const request = {
      day: this.day,
      process: this.processId,
      taken: before,
      wanted,
      isWhole: true,
      write: (this.#writes += 1),
    };
    this.#isOwing = false;
    const update = () =>
      readModel
        .collection(quotaUses)
        .findOneAndUpdate({ _id: this.documentId }, takePipeline(this.#limits, request), {
          upsert: true,
          returnDocument: 'after',
        });
    try {
      // When two instances create the same document at once, one fails and finds it the second time.
      const after = await gate.run(() =>
        update().catch((error: unknown) => {
          if (isRetriable(error)) throw error;
          return update();
        }),
      );
      const shares = after?.shares ?? [];
      const own = shares.find(({ day, process }) => day === this.day && process === this.processId);
      const grown = (own?.taken ?? before) - before;
      this.#taken += grown;
      return { granted: grown >= wanted, ...usedOf(shares, this.day), isStored: true };
    } catch (error) {
      if (!isRetriable(error)) logger.error({ err: error }, 'a quota cannot be taken from in the database');
      this.#taken += wanted;
      this.#isOwing = true;
      return { granted: true, dayUsed: 0, monthUsed: 0, isStored: false };
    }
  }
}
