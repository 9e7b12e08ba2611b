// Values by UUID, found by the bytes of a UUID within longer bytes: a look makes no object and no text.
import { uuidBytes, writeUuid } from './ordered-keys.js';

export class UuidMap<Value> {
  /** By the first four bytes, which few UUIDs share. */
  readonly #entries = new Map<number, { readonly bytes: Buffer; readonly value: Value }[]>();

  /** @param entries each with a UUID as text */
  constructor(entries: Iterable<readonly [uuid: string, value: Value]>) {
    for (const [uuid, value] of entries) {
      const bytes = Buffer.allocUnsafe(uuidBytes);
      writeUuid(bytes, 0, uuid);
      const first = bytes.readUInt32BE(0);
      const others = this.#entries.get(first);
      if (others) others.push({ bytes, value });
      else this.#entries.set(first, [{ bytes, value }]);
    }
  }

  /** @returns the value of the UUID that begins at a place; undefined where the map lacks it */
  at(bytes: Buffer, place: number): Value | undefined {
    const sharing = this.#entries.get(bytes.readUInt32BE(place));
    return sharing?.find((one) => bytes.compare(one.bytes, 0, uuidBytes, place, place + uuidBytes) === 0)
      ?.value;
  }
}
