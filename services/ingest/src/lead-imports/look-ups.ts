// What is stored of the leads and events of some rows: which events have come before, and which leads are there.
import {
  binaryToUuid,
  findByIds,
  findStoredIds,
  hexOf,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { records } from '@lead-scoring/contracts';
import pLimit from 'p-limit';
import { redirects } from '../aliases/documents.js';
import { eventRecords, knownEvents } from '../events/documents.js';
import { knownEventId, recordIdsOf } from '../events/keys.js';
import { maximumHops } from '../events/leads-of-alias.js';
import type { ImportedRow } from './row-events.js';

/** Leads that are looked up at the same time. */
const lookUp = pLimit(16);

export class RowLookUps {
  constructor(private readonly readModel: ReadModel) {}

  /** The leads to which events of these leads count now, where it is another one. */
  async redirected(leadIds: readonly string[]): Promise<Map<string, string>> {
    const targets = new Map<string, string>();
    let asked = [...new Set(leadIds)];
    for (let hop = 0; hop < maximumHops && asked.length > 0; hop += 1) {
      const found = await findByIds(this.readModel.collection(redirects), asked.map(uuidToBinary));
      const next = found
        .map(({ _id, lead_id }) => [binaryToUuid(_id), lead_id] as const)
        // A lead that is redirected to itself keeps its events.
        .filter(([from, to]) => from !== to);
      for (const [from, to] of next) targets.set(from, to);
      asked = next.map(([, to]) => to).filter((lead) => !targets.has(lead));
    }
    return new Map([...targets.keys()].map((lead) => [lead, endOf(lead, targets)]));
  }

  /** Those of these events that were counted before, by their ids. */
  async known(events: readonly Pick<records.ChunkEvent, 'id' | 'lead_id'>[]): Promise<Set<string>> {
    const moved = await this.redirected(events.map(({ lead_id }) => lead_id));
    const ids = new Map<string, string>();
    const keys = events.flatMap(({ id, lead_id }) =>
      // An event that came before its lead was linked to another is known there.
      [...new Set([lead_id, moved.get(lead_id) ?? lead_id])].map((lead) => {
        const key = knownEventId(lead, id);
        ids.set(hexOf(key), id);
        return key;
      }),
    );
    const found = await findStoredIds(this.readModel.collection(knownEvents), keys);
    return new Set(found.flatMap((key) => ids.get(hexOf(key)) ?? []));
  }

  /**
   * The leads of these rows that are there already.
   * @param sure leads that are known to be there
   */
  async present(rows: readonly ImportedRow[], sure: readonly string[]): Promise<Set<string>> {
    const present = new Set<string>(sure);
    const leads = [...new Set(rows.map(({ events: [first] }) => first.lead_id))].filter(
      (lead) => !present.has(lead),
    );
    const moved = await this.redirected(leads);
    await lookUp.map(leads, async (lead) => {
      const found = await withClassifiedErrors(() =>
        this.readModel
          .collection(eventRecords)
          .findOne({ _id: recordIdsOf(moved.get(lead) ?? lead) }, { projection: { _id: 1 } }),
      );
      if (found) present.add(lead);
    });
    return present;
  }
}

function endOf(lead: string, targets: ReadonlyMap<string, string>): string {
  let end = lead;
  for (let hop = 0; hop < maximumHops; hop += 1) {
    const next = targets.get(end);
    if (next === undefined) break;
    end = next;
  }
  return end;
}
