// The law of forgetting, on a real database, for firings of leads and of accounts: the documents do not depend on batches and kills,
// and none of a forgotten firing stays.
import { expect } from '@jest/globals';
import type { FoldedRecord, IncomingRecord, OutgoingRecord } from '@lead-scoring/event-log';
import type { DeclaredCollection, ReadModel } from '@lead-scoring/read-model';
import {
  anyStep,
  foldedInSteps,
  foldedRecord,
  oneByOne,
  type FoldStep,
} from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { isEnded, type Source, type Trigger } from '@lead-scoring/scoring-domain/triggers';
import { accountFiringRecords } from '../account-firing/messages.js';
import { firedEvents } from '../firing/documents.js';
import { firingRecords } from '../firing/messages.js';
import type { FiringPartition } from '../firing/partition.js';
import {
  isFired,
  isForgetting,
  isSuppression,
  subjectIdOf,
  type SubjectEvent,
} from '../firing/subject-model.js';
import { decidedBy, ouId, second } from './firing-builders.js';

const subjectRecords = { ...firingRecords, ...accountFiringRecords };

interface ForgettingLaw<Happening> {
  readonly happening: fc.Arbitrary<Happening>;
  /** What is recorded when this happens, in this order. */
  readonly logOf: (happened: readonly Happening[]) => SubjectEvent[];
  readonly collections: readonly DeclaredCollection[];
  readonly open: (readModel: ReadModel) => {
    fold: (folded: FoldedRecord[]) => Promise<void>;
    write: (awaited: AbortSignal) => Promise<void>;
  };
  readonly numRuns: number;
}

export function expectForgetting<Happening>({
  happening,
  logOf,
  collections,
  open,
  numRuns,
}: ForgettingLaw<Happening>): Promise<void> {
  return fc.assert(
    fc.asyncProperty(
      fc.array(happening, { minLength: 20, maxLength: 50 }),
      fc.array(anyStep(8, 8), { minLength: 5, maxLength: 15 }),
      async (happened, steps) => {
        const events = logOf(happened);
        const folded = (cut: FoldStep[]) =>
          foldedInSteps({ collections, log: events.map(recorded), steps: cut, open });
        const documents = await folded(oneByOne(events));
        const left = events.filter((event) => !isForgotten(event, events));
        expect(documents.fired_events).toHaveLength(left.filter(isFired).length);
        expect(documents.suppressions).toHaveLength(
          new Set(left.filter(isSuppression).map(({ payload }) => subjectIdOf(payload))).size,
        );
        expect(await folded(steps)).toEqual(documents);
      },
    ),
    { numRuns },
  );
}

/** Between the records of two transactions there is one of the log's own. */
function recorded({ type, payload }: SubjectEvent, index: number): FoldedRecord {
  return foldedRecord(subjectRecords[type], payload, index * 2);
}

function isForgotten({ payload }: SubjectEvent, events: readonly SubjectEvent[]): boolean {
  return events
    .filter(isForgetting)
    .some(
      ({ payload: end }) => subjectIdOf(end) === subjectIdOf(payload) && isEnded(payload.source, end.source),
    );
}

/** A partition with a log of its own: it folds what it decides. */
export function withOwnLog(firing: Pick<FiringPartition, 'decide' | 'fold' | 'write'>, readModel: ReadModel) {
  let next = 0;
  return {
    take: async (...incoming: readonly IncomingRecord[]) => {
      const { events, commands } = await decidedBy(firing, incoming);
      const own = events.map(({ declaration, payload }) => foldedRecord(declaration, payload, next++));
      await firing.fold(own);
      return { events: own, commands };
    },
    fold: (events: readonly SubjectEvent[]) =>
      firing.fold(events.map(({ type, payload }) => foldedRecord(subjectRecords[type], payload, next++))),
    /** Writes everything; the number of stored firings. */
    fired: async () => {
      await firing.write(AbortSignal.abort());
      return readModel.collection(firedEvents).countDocuments();
    },
  };
}

/** The type of each command, and the channel that it is for. */
export const commandsIn = (commands: readonly OutgoingRecord[]) =>
  commands.map(({ declaration, key }) => [declaration.type, key]);

/** The fields of an event that silences a trigger for a lead or an account, at a second after `began`. */
export const silenced = ({ id, name }: Trigger, source: Source, at: number) => ({
  ou_id: ouId,
  configuration_version: 1,
  source,
  trigger: { id, name, kind: 'milestone' as const },
  firings: 20,
  window_seconds: 600,
  at: second(at),
  until: second(at),
});
