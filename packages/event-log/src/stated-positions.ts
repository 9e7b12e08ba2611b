// The input positions that the output's records state: pure.
//
// Each transaction states its input positions, and the last statement counts. An operator may state positions for a
// halted partition; such a statement counts only when it follows the statement that the operator saw.
import { headerText } from './codec.js';
import { parseInputPositions, positionsHeader } from './input-positions.js';
import type { RawRecord } from './kafka/partition-reader.js';

/** On an operator's statement: the offset of the statement that it follows, or `none`. */
export const followsHeader = 'positions-follow';
/** On an operator's statement that declares the output whole: stored state is dropped and the output folded again. */
export const outputIsWholeHeader = 'positions-output-is-whole';

export interface StatedPositions {
  positions: ReadonlyMap<string, bigint>;
  /** The offset of the statement. */
  offset: bigint;
  /** The statement is an operator's, and no decision follows it. */
  isOperators: boolean;
  /** The operator has declared that the output holds every event. */
  outputIsWhole: boolean;
}

export interface StatementReader {
  /** Reads records in order; ignores those from `before` on. */
  take(records: readonly RawRecord[], before?: bigint): void;
  last(): StatedPositions | undefined;
  /** Set when the first statement is an operator's: the offset from which to read again, `none` for the beginning. */
  needs(): bigint | 'none' | undefined;
}

/** @param isFromBeginning whether the first record read is the output's first */
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
