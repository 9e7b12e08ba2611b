// Reads the event types of an OU, and the metadata keys of each.
import { eventTypeKey, routes } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { eventTypesOf, type EventType } from './fold.js';
import { eventTypes, toShare } from './documents.js';

/** All types of the OU by their key; a few documents per type. */
export async function loadEventTypes(readModel: ReadModel, ouId: string): Promise<Map<string, EventType>> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(eventTypes)
      .find({ ou: uuidToBinary(ouId) })
      .toArray(),
  );
  return eventTypesOf(found.map(toShare));
}

const alphabetical = new Intl.Collator('en');

export function eventTypeQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.listEventTypes, async ({ context }) => {
      const types = await loadEventTypes(readModel, context.ouId);
      return [...types.values()].map(({ name }) => name).sort(alphabetical.compare);
    }),
    bindQuery(routes.listEventTypeProperties, async ({ params, context }) => {
      const types = await loadEventTypes(readModel, context.ouId);
      const type = types.get(eventTypeKey(params.eventType));
      if (!type)
        throw new ProblemError(
          404,
          'event_type_not_found',
          'This organizational unit has no events of this type. GET /event-types lists the types that it has.',
        );
      return { event_type: type.name, properties: [...type.properties] };
    }),
  ];
}
