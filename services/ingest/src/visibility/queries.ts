// Waits until the position of a 202 is visible, and answers with the positions of its events in ingest.events.
import { decodePosition, routeDeclarations } from '@lead-scoring/contracts';
import { createCheckpoints, createPositionWatch, type ReadModel } from '@lead-scoring/read-model';
import { bindInternalQuery, formatPositions, ProblemError, type BoundQuery } from '@lead-scoring/service';

/**
 * A forwarded event passes ingest.commands a second time, in another partition, which the position of the 202 does not cover: a read
 * that waits sees all events of the batch except those that were being forwarded at that moment.
 */
export function visibilityQueries(
  readModel: ReadModel,
  { processor, partitions, timeoutMs }: { processor: string; partitions: number; timeoutMs: number },
): BoundQuery[] {
  const watch = createPositionWatch(createCheckpoints(readModel), processor);
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
      const reached = await watch.wait('ingest.commands', wanted, timeoutMs, context.signal);
      if (!reached)
        throw new ProblemError(
          503,
          'position_not_reached',
          'The events up to min_position are not visible yet. They are safe; read again in a moment.',
          { headers: { 'Retry-After': '1' } },
        );
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
