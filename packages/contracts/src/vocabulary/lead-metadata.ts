// The metadata that callers set for a lead: what a merge patch makes of it, and what leads that were merged have of each other's. Pure.
import { metadataLimits, checkMetadata } from './metadata.js';
import type { JsonObject, JsonValue } from './json.js';

/** Metadata that was set for a lead which has joined another. */
export interface JoinedMetadata {
  readonly lead_id: string;
  readonly metadata: JsonObject;
}

/** The metadata that was set for a lead, and that of the leads which have joined it, the first to join first. */
export interface SetMetadata {
  readonly own: JsonObject;
  readonly joined: readonly JoinedMetadata[];
}

export const noMetadata: SetMetadata = { own: {}, joined: [] };

/** Applies a JSON merge patch (RFC 7396). Neither argument is changed. Keys are never taken for members of prototypes. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, JsonValue>(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  return objectOf(merged);
}

/** A merge patch of an object by an object. */
export function patchedMetadata(metadata: JsonObject, patch: JsonObject): JsonObject {
  return mergePatch(metadata, patch) as JsonObject;
}

/** What holds for the lead: its own keys win over those of leads that have joined it, and of these those of the first to join. */
export function metadataInForce({ own, joined }: SetMetadata): JsonObject {
  if (joined.length === 0) return own;
  const all = new Map(Object.entries(own));
  for (const { metadata } of joined)
    for (const [key, value] of Object.entries(metadata)) if (!all.has(key)) all.set(key, value);
  return objectOf(all);
}

/**
 * Adds what leads bring along that join. Of it, keys are left out where the whole would exceed the limits of a lead. A key that is known of the
 * same lead stays: it was set later, and has come sooner.
 */
export function withJoined(known: SetMetadata, joining: readonly JoinedMetadata[]): SetMetadata {
  const joined = [...known.joined];
  for (const { lead_id, metadata } of joining) {
    const at = joined.findIndex((one) => one.lead_id === lead_id);
    const present = joined[at];
    const fitting = keysWithin(
      present ? withoutKeysOf(metadata, present.metadata) : metadata,
      roomBeside({ own: known.own, joined }),
    );
    if (Object.keys(fitting).length === 0) continue;
    if (present)
      joined[at] = {
        lead_id,
        metadata: objectOf([...Object.entries(present.metadata), ...Object.entries(fitting)]),
      };
    else joined.push({ lead_id, metadata: fitting });
  }
  return { own: known.own, joined };
}

export function isWithoutMetadata({ own, joined }: SetMetadata): boolean {
  return Object.keys(own).length === 0 && joined.length === 0;
}

/** Why metadata cannot be set for a lead; null where it can. */
export function problemOfMetadata(set: SetMetadata): string | null {
  const problem = checkMetadata(set.own, 'metadata');
  if (problem) return `${problem.path} ${problem.message}`;
  const { bytes, keys } = roomBeside(set);
  if (bytes < 0 || keys < 0)
    return `metadata, with that of the leads that were merged into this one, must be at most ${String(metadataLimits.bytes)} bytes of JSON with ${String(metadataLimits.keys)} keys and array elements`;
  return null;
}

interface Room {
  readonly bytes: number;
  readonly keys: number;
}

function roomBeside({ own, joined }: SetMetadata): Room {
  let { bytes, keys } = metadataLimits;
  for (const metadata of [own, ...joined.map((one) => one.metadata)]) {
    bytes -= bytesOf(metadata);
    keys -= countOf(metadata);
  }
  return { bytes, keys };
}

function withoutKeysOf(metadata: JsonObject, present: JsonObject): JsonObject {
  return objectOf(Object.entries(metadata).filter(([key]) => !Object.hasOwn(present, key)));
}

/** The first keys of metadata that have room. */
function keysWithin(metadata: JsonObject, room: Room): JsonObject {
  const kept = new Map<string, JsonValue>();
  let { bytes, keys } = room;
  for (const [key, value] of Object.entries(metadata)) {
    const one = objectOf([[key, value]]);
    bytes -= bytesOf(one);
    keys -= countOf(one);
    if (bytes < 0 || keys < 0) break;
    kept.set(key, value);
  }
  return objectOf(kept);
}

function bytesOf(metadata: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(metadata));
}

/** Keys and array elements, as limits of metadata count them. */
function countOf(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0;
  const inside: JsonValue[] = Object.values(value);
  return inside.reduce<number>((sum, one) => sum + 1 + countOf(one), 0);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An assignment to a key __proto__ would set the prototype; this makes it a key like any other. */
function objectOf(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  return Object.fromEntries(entries);
}
