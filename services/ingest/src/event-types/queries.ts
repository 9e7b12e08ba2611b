// Reads the event types of an OU, the properties of one, and the settings of all.
import { eventTypeKey, routeDeclarations, routes, type JsonObject } from '@lead-scoring/contracts';
import { bytesOf, type ReadModel } from '@lead-scoring/read-model';
import {
  askService,
  bindQuery,
  ProblemError,
  type AskedService,
  type BoundQuery,
} from '@lead-scoring/service';
import { readHidden } from '../event-type-settings/documents.js';
import { readUses } from '../event-type-uses/documents.js';
import { eventsAt } from '../export/events-at.js';
import { readPlaces } from '../events/places.js';
import { eventTypeOf, eventTypesOf, type EventType } from './fold.js';
import { examplesOf, propertiesOf } from './property-model.js';
import { findEventTypes, loadEventTypes, loadShares } from './reads.js';
import { settingsOf } from './settings-list.js';

const { countEventScores, eventTypeLimits, listSeenEventTypes } = routeDeclarations;
const alphabetical = new Intl.Collator('en');

/** @param scoring knows how many events of a type have points */
export function eventTypeQueries(readModel: ReadModel, scoring: AskedService): BoundQuery[] {
  return [
    bindQuery(routes.listEventTypes, async ({ context: { ouId } }) => {
      const seen = await seenTypes(readModel, ouId);
      return seen.flatMap(({ name, hidden }) => (hidden ? [] : [name])).sort(alphabetical.compare);
    }),
    bindQuery(listSeenEventTypes, ({ context: { ouId } }) => seenTypes(readModel, ouId)),
    bindQuery(routes.listEventTypeProperties, async ({ params, context: { ouId } }) => {
      const key = eventTypeKey(params.eventType);
      const shares = await loadShares(readModel, ouId, key);
      const type = eventTypesOf(shares.flatMap((share) => eventTypeOf(share) ?? [])).get(key);
      if (!type)
        throw new ProblemError(
          404,
          'event_type_not_found',
          'This organizational unit has no events of this type. GET /event-types lists the types that it has.',
        );
      const examples = examplesOf(await newestMetadata(readModel, ouId, type));
      const details = propertiesOf(shares.map(({ properties }) => properties)).map((property) => ({
        ...property,
        examples: examples.get(property.name) ?? [],
      }));
      return { event_type: type.name, properties: details.map(({ name }) => name), details };
    }),
    bindQuery(routes.listEventTypeSettings, async ({ context: { ouId } }) => {
      const [types, hidden, uses] = await Promise.all([
        loadEventTypes(readModel, ouId),
        readHidden(readModel, ouId),
        readUses(readModel, ouId),
      ]);
      return settingsOf(types, hidden, uses).sort((left, right) =>
        alphabetical.compare(left.name, right.name),
      );
    }),
    bindQuery(routes.dryRunEventTypeDeletion, async ({ params, context }) => {
      const key = eventTypeKey(params.eventType);
      const [types, scored] = await Promise.all([
        findEventTypes(readModel, context.ouId, [key]),
        askService(
          scoring,
          countEventScores,
          {
            path: `${countEventScores.path}?event_type=${encodeURIComponent(params.eventType)}`,
            otherwise: 'How many of the events have points is not known now.',
          },
          context,
        ),
      ]);
      return { events_count: types.get(key)?.count ?? 0, event_scores_count: scored.events };
    }),
  ];
}

async function seenTypes(readModel: ReadModel, ouId: string): Promise<{ name: string; hidden: boolean }[]> {
  const [types, hidden] = await Promise.all([loadEventTypes(readModel, ouId), readHidden(readModel, ouId)]);
  return Array.from(types.values(), ({ key, name }) => ({ name, hidden: hidden.has(key) }));
}

const dayMs = 86_400_000;

/** The metadata of the newest events of a type, the newest first. */
async function newestMetadata(
  readModel: ReadModel,
  ouId: string,
  { key, last_seen }: EventType,
): Promise<JsonObject[]> {
  const last = Date.parse(last_seen);
  const places = await readPlaces(readModel, ouId, {
    typeKey: key,
    // What is older is not looked for: a rare type would have the whole history read.
    fromMs: last - eventTypeLimits.sampledDays * dayMs,
    toMs: last + 1,
    after: null,
    skip: 0,
    limit: eventTypeLimits.sampledEvents,
  });
  const metadata: JsonObject[] = [];
  for await (const events of eventsAt(readModel, ouId, [places.map(bytesOf)]))
    for (const { event } of events) metadata.push(event.metadata);
  return metadata;
}
