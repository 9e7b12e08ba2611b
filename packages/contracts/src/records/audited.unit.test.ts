// Every event that a service writes is audited, or says why it is not: the compiler names a new one that is in no table, and so does this
// test.
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { recordDeclarations } from './index.js';
import { serviceNames, type RecordDeclaration } from './record.js';
import { auditedRecords, auditedServices, auditOf, auditTables } from './audited.js';

/** What event-log itself writes, about no thing. */
const ofTheLog = ['InputsRead', 'PositionsAccepted', 'RecordErased'];

const eventsOf = (service: string): RecordDeclaration[] =>
  recordDeclarations.filter(({ topic, type }) => topic === `${service}.events` && !ofTheLog.includes(type));

describe.each(serviceNames)('the events of %s', (service) => {
  test('are each audited or not: no event is missing, and none is named that there is not', () => {
    expect(Object.keys(auditTables[service]).sort()).toEqual(
      eventsOf(service)
        .map(({ type }) => type)
        .sort(),
    );
  });

  test('that are not audited say why, in a sentence', () => {
    for (const audit of eventsOf(service).map(auditOf))
      if (audit && 'unaudited' in audit) expect(audit.unaudited).toMatch(/^[A-Z].{15,}\.$/);
  });

  test('that are audited have a place for the actor', () => {
    for (const record of eventsOf(service)) {
      const audit = auditOf(record);
      if (!audit || 'unaudited' in audit) continue;
      const { shape } = record.schema as z.ZodObject;
      expect({ type: record.type, hasActor: 'actor' in shape }).toEqual({
        type: record.type,
        hasActor: true,
      });
    }
  });
});

test('a service has a trail where one of its events is audited', () => {
  const audited = serviceNames.filter((service) =>
    Object.values(auditTables[service]).some((audit) => !('unaudited' in audit)),
  );
  expect([...audited].sort()).toEqual([...auditedServices]);
  for (const service of auditedServices) expect(auditedRecords(service).length).toBeGreaterThan(0);
});
