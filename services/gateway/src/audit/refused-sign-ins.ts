// Refused sign-ins, counted: by day, address, credential where it is known, and reason. Written in batches, so that a bad request costs
// no write; bounded in memory and in the database, so that an attack fills neither.
import { routeDeclarations } from '@lead-scoring/contracts';
import {
  defineCollection,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { defineComponent, type Component, type Logger } from '@lead-scoring/service';
import { startPeriodicWrites } from '../periodic-writes.js';
import { RefusalCounts, type RefusalCount, type RefusalKey } from './refusal-model.js';

const { refusedSignInLimits } = routeDeclarations;

export interface RefusedSignInDocument {
  /** Day, address, credential and reason. */
  _id: string;
  day: string;
  address: string | null;
  credential: { kind: 'token' | 'service_account'; id: string } | null;
  /** The organisation of the credential; null: no credential is known. */
  organisation: Binary | null;
  /** The units that the credential may use; null: all, or there is no known credential. */
  ous: string[] | null;
  reason: routeDeclarations.RefusalReason | null;
  count: number;
  last_at: Date;
  expires_at: Date;
}

export const refusedSignIns = defineCollection<RefusedSignInDocument>({
  name: 'refused_sign_ins',
  indexes: [{ key: { day: -1, count: -1, _id: -1 } }],
  isLasting: true,
});

export interface RefusalRecorder {
  /** Counts a refused sign-in, without waiting. */
  refused(refusal: Omit<RefusalKey, 'day'>): void;
}

const writeEveryMs = 5_000;
const dayMs = 86_400_000;

/** Writes the counts together every few seconds. While the database is away they stay in memory, which is bounded. */
export function createRefusalRecorder(readModel: ReadModel, logger: Logger): Component<RefusalRecorder> {
  return defineComponent('refused sign-ins', () => {
    let pending = new RefusalCounts();
    const write = async (): Promise<void> => {
      if (pending.all.size === 0) return;
      const taken = pending;
      pending = new RefusalCounts();
      try {
        await writeCounts(readModel, [...taken.all.values()]);
      } catch (error) {
        for (const one of taken.all.values()) pending.add(one);
        logger.debug({ err: error }, 'refused sign-ins were not recorded yet');
      }
    };
    const stop = startPeriodicWrites(write, writeEveryMs);
    return Promise.resolve({
      value: {
        refused: (refusal) => {
          const lastAt = new Date().toISOString();
          pending.add({ key: { ...refusal, day: lastAt.slice(0, 10) }, count: 1, lastAt });
        },
      },
      stop,
    });
  });
}

/** Adds the counts to those of their days, all in one write. */
async function writeCounts(readModel: ReadModel, counts: readonly RefusalCount[]): Promise<void> {
  const collection = readModel.collection(refusedSignIns);
  const bounded: [string, RefusalCount][] = [];
  for (const day of new Set(counts.map(({ key }) => key.day))) {
    const stored = await withClassifiedErrors(() =>
      collection
        .find({ day }, { projection: { _id: 1 } })
        .limit(maximumRead)
        .toArray(),
    );
    const ofDay = new RefusalCounts(new Set(stored.map(({ _id }) => _id)));
    for (const one of counts) if (one.key.day === day) ofDay.add(one);
    bounded.push(...ofDay.all);
  }
  await withClassifiedErrors(() =>
    collection.bulkWrite(
      bounded.map(([_id, { key, count, lastAt }]) => ({
        updateOne: {
          filter: { _id },
          update: { $inc: { count }, $max: { last_at: new Date(lastAt) }, $setOnInsert: fieldsOf(key) },
          upsert: true,
        },
      })),
      { ordered: false },
    ),
  );
}

/** Documents of a day: those that are kept apart, and one for each credential with more. */
const maximumRead = 4 * refusedSignInLimits.countsPerDay;

function fieldsOf({ day, address, credential, reason }: RefusalKey) {
  return {
    ...{ day, address, reason },
    credential: credential && { kind: credential.kind, id: credential.id },
    organisation: credential && uuidToBinary(credential.organisationId),
    ous: credential?.ouIds ? [...credential.ouIds] : null,
    expires_at: new Date(Date.parse(day) + refusedSignInLimits.days * dayMs),
  };
}
