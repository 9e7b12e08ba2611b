// Parsing and validating sent events takes time linear in their length, in every body format, with any text at any
// place.
import { expect, test } from '@jest/globals';
import { leadFieldsOf } from '../vocabulary/lead-fields.js';
import { eventTypeKey } from '../vocabulary/event-types.js';
import { longestLinearMs, processorTimeOf, worstTexts } from '../testing/worst-texts.js';
import { eventsOfCsvRows } from './csv-events.js';
import { eventsOfJson, eventsOfNdjson, type SentEvent } from './sent-events.js';
import { validateEvents } from './validate.js';

const length = 100_000;
const context = {
  ouId: '11111111-1111-4111-8111-111111111111',
  receivedAt: '2026-01-31T09:30:00.000Z',
  repeatableBatchId: null,
};
const visit = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };

function checked(events: ReturnType<typeof eventsOfJson>): void {
  const sent: SentEvent[] = Array.isArray(events) ? events : [];
  for (const { metadata = {}, event_type } of validateEvents(sent, context).events) {
    leadFieldsOf(metadata, context.receivedAt);
    eventTypeKey(event_type);
  }
}

const bodies = Object.entries(worstTexts(length)).flatMap(([kind, text]): [string, () => void][] => {
  const json = (event: object) => () => {
    checked(eventsOfJson(event));
  };
  return [
    [`${kind}: alias_kind`, json({ ...visit, alias_kind: text })],
    [`${kind}: alias`, json({ ...visit, alias: text })],
    [`${kind}: a telephone number`, json({ ...visit, alias_kind: 'phone', alias: text })],
    [`${kind}: event_type`, json({ ...visit, event_type: text })],
    [`${kind}: timestamp`, json({ ...visit, timestamp: text })],
    [`${kind}: event_id`, json({ ...visit, event_id: text })],
    [`${kind}: a name`, json({ ...visit, metadata: { name: text.slice(100) } })],
    [`${kind}: a key of the metadata`, json({ ...visit, metadata: { [text.slice(100)]: 1 } })],
    [`${kind}: an unknown field`, json({ ...visit, [text]: 1 })],
    [
      `${kind}: a line of NDJSON`,
      () => {
        checked(eventsOfNdjson(text));
      },
    ],
    [
      `${kind}: a column of CSV, and a cell`,
      () => {
        checked(
          eventsOfCsvRows([
            [...Object.keys(visit), `metadata.${text}`],
            [...Object.values(visit), text],
          ]),
        );
      },
    ],
  ];
});

test.each([
  ...bodies,
  [
    'ten thousand columns of CSV, each another',
    () => {
      checked(
        eventsOfCsvRows([Array.from({ length: 10_000 }, (_, index) => `metadata.${String(index)}`), []]),
      );
    },
  ],
  [
    'blank lines of NDJSON',
    () => {
      checked(eventsOfNdjson(' \n'.repeat(length / 2)));
    },
  ],
])('%s takes linear time', (_, run) => {
  expect(processorTimeOf(run)).toBeLessThan(longestLinearMs);
});
