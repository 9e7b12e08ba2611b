// Positions of the log in the header `x-min-positions`, which the gateway sends: `0:42,3:7`.
import { ProblemError } from './problems.js';

export const minimumPositionsHeader = 'x-min-positions';

/** A partition, and the next offset that a reader must have reached. */
export interface PartitionPosition {
  partition: number;
  offset: bigint;
}

export function formatPositions(positions: readonly PartitionPosition[]): string {
  return positions.map(({ partition, offset }) => `${String(partition)}:${String(offset)}`).join(',');
}

/** @throws ProblemError 400 for a text that `formatPositions` did not make */
export function parsePositions(text: string): PartitionPosition[] {
  if (text === '') return [];
  return text.split(',').map((pair) => {
    const match = /^(\d{1,4}):(\d{1,19})$/.exec(pair);
    if (!match?.[1] || !match[2])
      throw new ProblemError(
        400,
        'invalid_request',
        `${minimumPositionsHeader} must be a list such as 0:42,3:7.`,
      );
    return { partition: Number(match[1]), offset: BigInt(match[2]) };
  });
}

/** @param what is not visible up to the position that a reader has asked for */
export function positionNotReached(what: string): ProblemError {
  return new ProblemError(
    503,
    'position_not_reached',
    `The ${what} up to min_position are not visible yet. The events are safe; read again in a moment.`,
    { headers: { 'Retry-After': '1' } },
  );
}
