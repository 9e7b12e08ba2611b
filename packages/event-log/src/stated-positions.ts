// What the output's records say of the inputs' positions, in their order: pure.
//
// Each transaction says how far its inputs are read, and what is said last counts. An operator may say so as well, of a
// partition that stands still; that counts only if it follows the statement that the operator saw.
import { headerText } from './codec.js';
import { parseInputPositions, positionsHeader } from './input-positions.js';
import type { RawRecord } from './kafka/partition-reader.js';

/** On an operator's statement: the offset of the statement that it follows, or `none`. */
export const followsHeader = 'positions-follow';
/** On an operator's statement, where what is stored is to be folded anew from what the output holds. */
export const outputIsWholeHeader = 'positions-output-is-whole';

export interface StatedPositions {
  positions: ReadonlyMap<string, bigint>;
  /** Where it is said. */
  offset: bigint;
  /** It is an operator's word, and nothing was decided since. */
  isOperators: boolean;
  /** And it says that what the output holds is all that was decided. */
  outputIsWhole: boolean;
}

export interface StatementReader {
  /** Takes records in their order. */
  take(records: readonly RawRecord[], before?: bigint): void;
  last(): StatedPositions | undefined;
  /** An operator's statement was met first: it is to be read from here on again, the beginning being `none`. */
  needs(): bigint | 'none' | undefined;
}

/** @param isFromBeginning whether the first record taken is the output's first */
export function createStatementReader(isFromBeginning: boolean): StatementReader {
  let last: StatedPositions | undefined;
  let needs: bigint | 'none' | undefined;
  return {
    take(records, before) {
      for (const { headers, offset } of records) {
        if (before !== undefined && offset >= before) return;
        const text = headerText(headers, positionsHeader);
        if (text === undefined) continue;
        const follows = headerText(headers, followsHeader);
        if (follows === undefined) {
          const positions = parseInputPositions(text);
          last = { positions, offset, isOperators: false, outputIsWhole: false };
          continue;
        }
        if (!last && !isFromBeginning) {
          needs ??= /^\d+$/.test(follows) ? BigInt(follows) : 'none';
          continue;
        }
        if (follows !== (last?.offset.toString() ?? 'none')) continue;
        const outputIsWhole = headerText(headers, outputIsWholeHeader) === 'true';
        last = { positions: parseInputPositions(text), offset, isOperators: true, outputIsWhole };
      }
    },
    last: () => last,
    needs: () => (last ? undefined : needs),
  };
}
