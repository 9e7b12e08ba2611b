// Waits until the position of a 202 is visible, and answers with the positions of its events in ingest.events.
import { createFoldWatch } from '@lead-scoring/capability';
import { decodePosition, routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  bindInternalQuery,
  formatPositions,
  positionNotReached,
  ProblemError,
  type BoundQuery,
} from '@lead-scoring/service';

/**
 * A forwarded event passes ingest.commands a second time, in another partition, which the position of the 202 does not cover: a read
 * that waits sees all events of the batch except those that were being forwarded at that moment.
 */
export function visibilityQueries(
  readModel: ReadModel,
  { partitions, timeoutMs }: { partitions: number; timeoutMs: number },
): BoundQuery[] {
  const folded = createFoldWatch(readModel, 'ingest', { timeoutMs });
  return [
    bindInternalQuery(routeDeclarations.awaitVisible, async ({ query, context }) => {
      const position = decodePosition(query.position);
      if (!position || [...position.keys()].some((partition) => partition >= partitions))
        throw new ProblemError(
          400,
          'position_unknown',
          'min_position must be the position of a 202 of this system.',
        );
      const wanted = [...position].map(([partition, offset]) => ({ partition, offset: offset + 1n }));
      const reached = await folded.until('ingest.commands', wanted, context.signal);
      if (!reached) throw positionNotReached('events');
      return {
        positions: formatPositions(
          [...reached].map(([partition, { positions }]) => ({
            partition,
            offset: positions['ingest.events'] ?? 0n,
          })),
        ),
      };
    }),
  ];
}
