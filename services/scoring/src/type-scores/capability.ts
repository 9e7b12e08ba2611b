// Counts the scored events of each type, so that a dry run of a deletion says what it would concern. The removal of a lead takes its
// events back.
import { projection, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import {
  BufferedStates,
  bytesOf,
  offsetToNumber,
  readJson,
  readOffset,
  uuidBytes,
  withClassifiedErrors,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { LeadProjection } from '../leads/capability.js';
import { timeline } from '../leads/documents.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { recordKeysUpTo } from '../keys.js';
import { scoredTypesOf, sumOfCounts, type TypeCounts } from './count-model.js';
import { typeScores as stored, typeScoresId, type TypeScoresDocument } from './documents.js';

export function typeScores({ leads }: { leads: LeadProjection }) {
  return projection({
    name: 'type-scores',
    events: { LeadScored: records.leadScored, LeadRemoved: records.leadRemoved },
    collections: [stored],
    open: (scope) =>
      new OpenTypeScores(scope.readModel, { partition: scope.partition, leads: scope.opened(leads) }),
  });
}

/** What one record adds to the counts, or takes from them. */
interface Change {
  readonly ouId: string;
  readonly offset: number;
  readonly sign: 1 | -1;
  readonly counts: TypeCounts;
}

/** Types that a partition keeps in memory. */
const maximumCached = 2_000;
const ouIdLength = 36;

class OpenTypeScores implements OpenCapability {
  readonly #timeline;
  readonly #partition: number;
  readonly #leads: Pick<OpenLeads, 'write'>;
  /** By the OU's id followed by the key of the type. */
  readonly #counts: BufferedStates<TypeScoresDocument, TypeScoresDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: ReadModel,
    { partition, leads }: { partition: number; leads: Pick<OpenLeads, 'write'> },
  ) {
    this.#partition = partition;
    this.#leads = leads;
    this.#timeline = readModel.collection(timeline);
    this.#counts = new BufferedStates(readModel, {
      collection: stored,
      idOf: (name) => typeScoresId(name.slice(0, ouIdLength), name.slice(ouIdLength), partition),
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#counts]);
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    await this.#behind.room();
    const isRemoving = folded.some((record) => isRecord(record, records.leadRemoved));
    // What a removed lead had of earlier batches is then in its timeline.
    if (isRemoving) await this.#leads.write();
    await this.#apply(await this.#changesIn(folded));
    // Before the timeline of the removed lead is deleted, from which the same would have to be folded again after a crash.
    if (isRemoving) await this.#behind.write();
  }

  write(awaited: AbortSignal): Promise<void> {
    return this.#behind.write(awaited);
  }

  forget(): void {
    this.#behind.forget();
  }

  async #changesIn(folded: readonly FoldedRecord[]): Promise<Change[]> {
    /** Of each lead: the offset from which its decisions count, and those of this batch. */
    const leads = new Map<string, { from: number; decided: Map<number, TypeCounts> }>();
    const changes: Change[] = [];
    for (const record of folded) {
      const offset = offsetToNumber(record.offset);
      if (isRecord(record, records.leadScored)) {
        const { ou_id: ouId, lead_id, scored_events } = record.payload;
        if (scored_events.length === 0) continue;
        const counts = scoredTypesOf(record.payload);
        const lead = leads.get(lead_id) ?? { from: 0, decided: new Map<number, TypeCounts>() };
        leads.set(lead_id, { ...lead, decided: lead.decided.set(offset, counts) });
        changes.push({ ouId, offset, sign: 1, counts });
      } else if (isRecord(record, records.leadRemoved)) {
        const { ou_id: ouId, lead_id } = record.payload;
        const { from, decided } = leads.get(lead_id) ?? { from: 0, decided: new Map<number, TypeCounts>() };
        const known = await this.#decidedOn(lead_id, { from, to: offset });
        const counts = sumOfCounts(new Map([...known, ...decided]).values());
        leads.set(lead_id, { from: offset, decided: new Map() });
        changes.push({ ouId, offset, sign: -1, counts });
      }
    }
    return changes;
  }

  /** The stored decisions on a lead that scored events, by their offsets. After a crash, some of the batch may be among them. */
  async #decidedOn(
    leadId: string,
    { from, to }: { from: number; to: number },
  ): Promise<Map<number, TypeCounts>> {
    const decided = new Map<number, TypeCounts>();
    await withClassifiedErrors(async () => {
      for await (const { _id, json } of this.#timeline.find({ _id: recordKeysUpTo(leadId, to, from) })) {
        const decision = readJson(json) as unknown as Partial<records.LeadScored>;
        if (decision.scored_events)
          decided.set(
            readOffset(bytesOf(_id), uuidBytes),
            scoredTypesOf({ scored_events: decision.scored_events }),
          );
      }
    });
    return decided;
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    const names = changes.flatMap(({ ouId, counts }) => [...counts.keys()].map((key) => ouId + key));
    const known = await this.#counts.load(names);
    for (const { ouId, offset, sign, counts } of changes)
      for (const [key, events] of counts) {
        const name = ouId + key;
        const before = known.get(name) ?? null;
        // Folded already, before a crash.
        if (before && before.offset >= offset) continue;
        const after = {
          _id: typeScoresId(ouId, key, this.#partition),
          events: Math.max(0, (before?.events ?? 0) + sign * events),
          partition: this.#partition,
          offset,
        };
        known.set(name, after);
        this.#counts.put(name, after);
      }
  }
}
