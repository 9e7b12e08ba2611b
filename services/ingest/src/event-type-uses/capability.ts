// Which rules and triggers use which event types: ingest's own copy, folded from the public events of scoring and notification. A type
// that one of them uses is protected.
import {
  followingProjection,
  type FollowerScope,
  type FollowingProjection,
  type OpenFollower,
} from '@lead-scoring/capability';
import { projectorNames } from '@lead-scoring/contracts';
import { takenOf, type FoldedRecord } from '@lead-scoring/event-log';
import {
  BufferedStates,
  keyOf,
  offsetToNumber,
  uuidToBinary,
  WriteBehind,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { eventTypeUses, packedUse, useId, type UseDocument } from './documents.js';
import { useReads } from './reads.js';
import { useOfRule, useOfTrigger, type EventTypeUse } from './use-model.js';

export const [eventTypeUsesName] = projectorNames.ingest;

export function followedEventTypeUses(): FollowingProjection {
  return followingProjection({
    name: eventTypeUsesName,
    reads: useReads,
    collections: [eventTypeUses],
    // Nearly all records are decisions of scoring, which may wait and are ignored: few large batches cost least. Rules and triggers do not wait.
    batching: { maxRecordsPerBatch: 16_000, maxBytesPerBatch: 8 * 1024 * 1024, everyMs: 1_000 },
    follow: ({ readModel, partition }: FollowerScope) => new OpenUses(readModel, partition),
  });
}

/** What becomes of the document of a rule or trigger. */
interface UseChange {
  readonly id: Binary;
  readonly ouId: string;
  readonly offset: number;
  /** null: it uses no event type, or is gone. */
  readonly use: EventTypeUse | null;
}

/** Documents that a partition keeps in memory. */
const maximumCached = 500;

class OpenUses implements OpenFollower {
  /** The ids of the batch that is being folded. */
  #ids: ReadonlyMap<string, Binary> = new Map();
  readonly #uses: BufferedStates<UseDocument, UseDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#uses = new BufferedStates(readModel, {
      collection: eventTypeUses,
      idOf: (key) => this.#ids.get(key) as Binary,
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#uses]);
  }

  async fold(records: readonly FoldedRecord[]): Promise<void> {
    const changes = records.flatMap((record) => changeIn(record) ?? []);
    if (changes.length === 0) return;
    this.#ids = new Map(changes.map(({ id }) => [keyOf(id), id]));
    const known = await this.#uses.load(this.#ids.keys());
    for (const { id, ouId, offset, use } of changes) {
      const key = keyOf(id);
      const before = known.get(key) ?? null;
      // Folded already, before a crash.
      if (before && before.offset >= offset) continue;
      const after = use && {
        _id: id,
        ou: uuidToBinary(ouId),
        use: packedUse(use),
        partition: this.partition,
        offset,
      };
      known.set(key, after);
      this.#uses.put(key, after);
    }
    await this.#behind.write();
  }

  forget(): void {
    this.#behind.forget();
  }
}

/** null: the record changes no use. */
function changeIn(record: FoldedRecord): UseChange | null {
  const offset = offsetToNumber(record.offset);
  const ofScoring = takenOf('scoring.events', useReads['scoring.events'], record);
  if (ofScoring) {
    const { ou_id: ouId, rule_id } = ofScoring.payload;
    const use = ofScoring.type === 'RuleDeleted' ? null : useOfRule(ofScoring.payload);
    return { id: useId(ouId, 'rule', rule_id), ouId, offset, use };
  }
  const ofNotification = takenOf('notification.events', useReads['notification.events'], record);
  if (!ofNotification) return null;
  const { ou_id: ouId, trigger_id } = ofNotification.payload;
  const use = ofNotification.type === 'TriggerDeleted' ? null : useOfTrigger(ofNotification.payload);
  return { id: useId(ouId, 'trigger', trigger_id), ouId, offset, use };
}
