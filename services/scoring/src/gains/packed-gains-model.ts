// Lists of gains as bytes: lead (16), hour (4), points (8) of each entry, in order. Pure.
import { readUuid, uuidBytes, writeUuid, type UuidMap } from '@lead-scoring/read-model';
import type { GainEntry } from './gain-model.js';

const hourAt = uuidBytes;
const pointsAt = hourAt + 4;
const entryBytes = pointsAt + 8;

export function packGains(entries: readonly GainEntry[]): Buffer {
  const bytes = Buffer.allocUnsafe(entries.length * entryBytes);
  let at = 0;
  for (const { lead_id, hour, points } of entries) {
    writeUuid(bytes, at, lead_id);
    bytes.writeUInt32BE(hour, at + hourAt);
    // A restart has no number of points.
    bytes.writeDoubleBE(points ?? NaN, at + pointsAt);
    at += entryBytes;
  }
  return bytes;
}

export function unpackGains(bytes: Buffer): GainEntry[] {
  return Array.from({ length: bytes.length / entryBytes }, (_, index) => {
    const at = index * entryBytes;
    const points = bytes.readDoubleBE(at + pointsAt);
    return {
      lead_id: readUuid(bytes, at),
      hour: bytes.readUInt32BE(at + hourAt),
      points: Number.isNaN(points) ? null : points,
    };
  });
}

/** The packed entries without those of some leads; null where these have none. */
export function withoutLeads(bytes: Buffer, leads: UuidMap<true>): Buffer | null {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += entryBytes)
    if (leads.at(bytes, at) === undefined) length += bytes.copy(kept, length, at, at + entryBytes);
  return length === bytes.length ? null : kept.subarray(0, length);
}

export interface LeadGain {
  readonly lead_id: string;
  readonly gain: number;
}

/** Sums up the gains of leads since an hour, from the newest entries of each partition to its oldest. */
export class GainTally {
  /** By the bytes of the lead's id as text, which is faster than its usual form. */
  readonly #gains = new Map<string, number>();
  readonly #restarted = new Set<string>();

  constructor(private readonly from: number) {}

  /** Adds a packed list that is older than all lists of its partition that were added. */
  add(bytes: Buffer): void {
    for (let at = bytes.length - entryBytes; at >= 0; at -= entryBytes) {
      const lead = bytes.toString('latin1', at, at + uuidBytes);
      if (this.#restarted.has(lead)) continue;
      const points = bytes.readDoubleBE(at + pointsAt);
      if (Number.isNaN(points)) this.#restarted.add(lead);
      else if (bytes.readUInt32BE(at + hourAt) >= this.from)
        this.#gains.set(lead, (this.#gains.get(lead) ?? 0) + points);
    }
  }

  /** The number of leads that gained points. */
  get leads(): number {
    let leads = 0;
    for (const gain of this.#gains.values()) if (gain > 0) leads += 1;
    return leads;
  }

  /** The largest gains, the largest first, of one size in the order of the leads' ids. */
  largest(count: number): LeadGain[] {
    const largest: [lead: string, gain: number][] = [];
    for (const [lead, gain] of this.#gains) {
      if (gain <= 0) continue;
      const last = largest[count - 1];
      if (last && !isBefore([lead, gain], last)) continue;
      let place = largest.length;
      for (
        let before = largest[place - 1];
        before && isBefore([lead, gain], before);
        before = largest[place - 1]
      )
        place -= 1;
      largest.splice(place, 0, [lead, gain]);
      if (largest.length > count) largest.pop();
    }
    return largest.map(([lead, gain]) => ({ lead_id: readUuid(Buffer.from(lead, 'latin1'), 0), gain }));
  }
}

function isBefore([lead, gain]: [string, number], [other, otherGain]: [string, number]): boolean {
  return gain === otherGain ? lead < other : gain > otherGain;
}
