// What messages of Segment's clients become: ids, aliases, types, metadata, times, and the errors of those that are not valid.
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { leadFieldsOf, utcTime, validateEvents, type JsonObject } from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import fc from 'fast-check';
import { clockSkewMs, correctedTime } from './clock-skew.js';
import { pathInMessage } from './event-of-message.js';
import { messagesIn, writeKeyIn } from './read-messages.js';

const receivedAt = '2026-01-31T12:00:00.000Z';
const person = { userId: 'u1', anonymousId: 'a1' };

/** The event that a message of a batch becomes, or the errors of the message. */
function eventOf(message: object, batch: object = {}) {
  const sent = messagesIn({ ...batch, batch: [message] }, null, receivedAt);
  const { events, rejected } = validateEvents(sent, { ouId: '', receivedAt, repeatableBatchId: null });
  const [event] = events;
  return event ?? { errors: rejected[0]?.errors.map(({ path, message: why }) => [pathInMessage(path), why]) };
}
const track = (more: object = {}) => ({ type: 'track', event: 'Order Completed', ...person, ...more });
const errorsOf = (message: object) => (eventOf(message) as { errors?: [string, string][] }).errors;
const metadataOf = (message: object) => (eventOf(message) as { metadata?: JsonObject }).metadata;
const aliasesOf = (message: object) =>
  (eventOf(message) as { aliases: { alias_kind: string; alias: string }[] }).aliases.map(
    ({ alias_kind, alias }) => `${alias_kind}:${alias}`,
  );

describe('the type of the event', () => {
  test.each([
    [track(), 'Order Completed'],
    [{ type: 'page', ...person }, 'Page View'],
    [{ type: 'screen', ...person }, 'Screen View'],
    [{ type: 'identify', ...person }, 'Identify'],
    [{ type: 'group', groupId: 'g1', ...person }, 'Group'],
    [{ type: 'alias', previousId: 'a0', userId: 'u1' }, 'Alias'],
  ])('%j is %s', (message, type) => {
    expect(eventOf(message)).toMatchObject({ event_type: type });
  });
});

describe('the aliases', () => {
  test('are the known ones first, then the anonymous one', () => {
    expect(aliasesOf(track())).toEqual(['user_id:u1', 'anonymous_id:a1']);
    expect(aliasesOf({ type: 'identify', ...person, traits: { email: ' Ada@Example.com ' } })).toEqual([
      'user_id:u1',
      'email:ada@example.com',
      'anonymous_id:a1',
    ]);
    expect(aliasesOf(track({ userId: null, context: { traits: { email: 'ada@example.com' } } }))).toEqual([
      'email:ada@example.com',
      'anonymous_id:a1',
    ]);
    expect(aliasesOf(track({ userId: 17, anonymousId: '' }))).toEqual(['user_id:17']);
  });

  test('an e-mail trait that is no address names nobody, and loses no message', () => {
    expect(aliasesOf({ type: 'identify', ...person, traits: { email: 'n/a' } })).toEqual([
      'user_id:u1',
      'anonymous_id:a1',
    ]);
  });

  test('the e-mail address of a company is not that of its people', () => {
    const message = { type: 'group', groupId: 'g1', ...person, traits: { email: 'info@example.com' } };
    expect(aliasesOf(message)).toEqual(['user_id:u1', 'anonymous_id:a1']);
  });

  test('of alias: the previous id is an e-mail address if it looks like one, else anonymous', () => {
    const alias = (previousId: unknown) => aliasesOf({ type: 'alias', userId: 'u1', previousId });
    expect(alias('a0')).toEqual(['user_id:u1', 'anonymous_id:a0']);
    expect(alias('Ada@example.com')).toEqual(['user_id:u1', 'email:ada@example.com']);
  });

  test('a message that names nobody, or with an id that no alias can be, is refused', () => {
    expect(errorsOf(track({ userId: ' ', anonymousId: null }))).toEqual([
      ['userId', expect.stringContaining('anonymousId')],
    ]);
    expect(errorsOf(track({ userId: 'a\nb' }))).toEqual([['userId', 'must not hold control characters']]);
    expect(errorsOf({ type: 'alias', userId: 'u1' })).toEqual([['previousId', 'is required']]);
    expect(errorsOf({ type: 'alias', userId: 'u1', previousId: ' ' })).toEqual([
      ['previousId', 'must not be empty'],
    ]);
  });
});

describe('the event_id', () => {
  test('is the messageId; of a longer one its SHA-256 sum; without one there is none', () => {
    const idOf = (messageId: unknown) => (eventOf(track({ messageId })) as { event_id?: string }).event_id;
    expect(idOf('m'.repeat(128))).toBe('m'.repeat(128));
    const long = 'ü'.repeat(129);
    expect(idOf(long)).toBe(createHash('sha256').update(long).digest('hex'));
    expect(idOf(null)).toBeUndefined();
    expect(idOf('')).toBeUndefined();
  });
});

describe('the metadata', () => {
  const leadOf = (message: object) =>
    Object.fromEntries(
      leadFieldsOf(metadataOf(message) ?? {}, receivedAt).map(({ field, value }) => [field, value]),
    );

  test('properties stay under their own key, and no field of the lead comes from them', () => {
    const properties = { name: 'Shoe', company: 'Maker', title: 'A title', phone: '1', owner: 'x' };
    for (const type of ['track', 'page', 'screen']) {
      const message = { ...track({ properties }), type };
      expect(metadataOf(message)).toMatchObject({ properties });
      expect(leadOf(message)).toEqual({});
    }
  });

  test('name, category and url of a page are properties of the view, and no name of a lead', () => {
    const page = {
      type: 'page',
      ...person,
      name: 'Pricing',
      category: 'Shop',
      context: { page: { path: '/pricing', url: 'https://example.com/pricing' } },
    };
    expect(metadataOf(page)).toEqual({
      path: '/pricing',
      properties: { name: 'Pricing', category: 'Shop', url: 'https://example.com/pricing' },
      context: { page: { path: '/pricing', url: 'https://example.com/pricing' } },
    });
    expect(leadOf(page)).toEqual({});
  });

  test('traits of identify give the fields of the lead', () => {
    const traits = {
      firstName: 'Ada',
      lastName: 'Lovelace',
      company: { name: 'Example', employees: 12 },
      title: 'CTO',
      phone: '+49 151 12345678',
      owner: 'Grace',
      plan: 'free',
    };
    const message = { type: 'identify', ...person, traits };
    expect(leadOf(message)).toEqual({
      name: 'Ada Lovelace',
      company: 'Example',
      title: 'CTO',
      phone: '+49 151 12345678',
      owner: 'Grace',
    });
    expect(metadataOf(message)).toMatchObject({ traits });
    expect(leadOf({ type: 'identify', ...person, traits: { name: 'Ada', company: 'Example' } })).toEqual({
      name: 'Ada',
      company: 'Example',
    });
    expect(leadOf({ type: 'identify', ...person, traits: { name: 17, company: { name: [] } } })).toEqual({});
  });

  test('traits in the context are those of the person, on any message', () => {
    const message = track({ context: { traits: { name: 'Ada', plan: 'free' } } });
    expect(leadOf(message)).toEqual({ name: 'Ada' });
    expect(metadataOf(message)).toEqual({ name: 'Ada', traits: { name: 'Ada', plan: 'free' } });
    const both = {
      type: 'identify',
      ...person,
      traits: { plan: 'paid' },
      context: { traits: { plan: 'free', age: 36 } },
    };
    expect(metadataOf(both)).toEqual({ traits: { plan: 'paid', age: 36 } });
  });

  test('traits of a group are those of the company: its name is the company of the lead, and nothing else is the lead’s', () => {
    const traits = { name: 'Example', phone: '+49 30 1', title: 'x', employees: 12 };
    const message = { type: 'group', groupId: 12, ...person, traits };
    expect(metadataOf(message)).toEqual({ company: 'Example', group: { id: '12', traits } });
    expect(leadOf(message)).toEqual({ company: 'Example' });
  });

  test('of the context: page, campaign and locale, texts only, cut off at 1,000 characters', () => {
    const context = {
      page: { path: '/a', url: 'x'.repeat(2_000), width: 3, secret: 'no' },
      campaign: { name: 'Spring', source: 'news', custom: 'no' },
      locale: 'de-DE',
      ip: '192.0.2.1',
      userAgent: 'Mozilla',
      library: { name: 'x' },
    };
    expect(metadataOf(track({ context }))).toEqual({
      path: '/a',
      campaign: 'Spring',
      context: {
        page: { path: '/a', url: 'x'.repeat(1_000) },
        campaign: { name: 'Spring', source: 'news' },
        locale: 'de-DE',
      },
    });
    expect(metadataOf(track({ context: { page: 'x', campaign: [], locale: 7 } }))).toBeUndefined();
  });

  test('the context of the batch holds for its messages, whose own takes precedence', () => {
    const event = eventOf(track({ context: { locale: 'en' } }), {
      context: { locale: 'de', campaign: { name: 'Spring' } },
    });
    expect(event).toMatchObject({
      metadata: { campaign: 'Spring', context: { locale: 'en', campaign: { name: 'Spring' } } },
    });
  });

  test('keys stay as they are, whatever they are', () => {
    const text = '{"__proto__":1,"$where":2,"a.b":3,"constructor":{"prototype":7}}';
    const properties = JSON.parse(text) as unknown;
    expect(JSON.stringify(metadataOf(track({ properties }))?.properties)).toBe(text);
    const traits = JSON.parse(text) as unknown;
    expect(JSON.stringify(metadataOf({ type: 'identify', ...person, traits })?.traits)).toBe(text);
  });
});

describe('the time', () => {
  test('is corrected by what the sender’s clock is wrong', () => {
    // A clock that is an hour fast, and a message that waited for ten seconds.
    const timestamp = '2026-01-31T12:59:50Z';
    const sentAt = '2026-01-31T13:00:00Z';
    expect(correctedTime(timestamp, clockSkewMs(sentAt, receivedAt))).toBe('2026-01-31T11:59:50.000Z');
    expect(eventOf(track({ timestamp }))).toMatchObject({ timestamp: '2026-01-31T12:59:50.000Z' });
  });

  test('whatever the clock shows, the message is as old when it comes as it was when it was sent', () => {
    const moment = fc.date({
      min: new Date('1990-01-01'),
      max: new Date('2050-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, moment, moment, (happened, sent, received) => {
        const corrected = correctedTime(
          happened.toISOString(),
          clockSkewMs(sent.toISOString(), received.toISOString()),
        );
        const age = sent.getTime() - happened.getTime();
        expect(received.getTime() - Date.parse(corrected)).toBe(age);
      }),
    );
  });

  test('a correction beyond what a time can be leaves the time as it is', () => {
    const extreme = fc.constantFrom('0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', receivedAt);
    fc.assert(
      fc.property(extreme, extreme, (happened, sent) => {
        expect(utcTime(correctedTime(happened, clockSkewMs(sent, receivedAt)))).not.toBeNull();
      }),
    );
    expect(correctedTime('9999-12-31T23:59:59Z', clockSkewMs('0000-01-01T00:00:00Z', receivedAt))).toBe(
      '9999-12-31T23:59:59Z',
    );
  });

  test('the time of the batch’s sending counts before that of the message; originalTimestamp stands in for timestamp', () => {
    const timestamp = '2026-01-31T12:59:00.000Z';
    const sentAt = '2026-01-31T13:00:00Z';
    const corrected = { timestamp: '2026-01-31T11:59:00.000Z' };
    expect(eventOf(track({ timestamp, sentAt: '2020-01-01T00:00:00Z' }), { sentAt })).toMatchObject(
      corrected,
    );
    expect(eventOf(track({ originalTimestamp: timestamp, sentAt }))).toMatchObject(corrected);
    expect(eventOf(track({ sentAt }))).toMatchObject({ timestamp: receivedAt });
  });

  test('more than 24 hours in the future, or no time at all, is refused', () => {
    expect(errorsOf(track({ timestamp: '2026-02-02T12:00:00Z', sentAt: receivedAt }))).toEqual([
      ['timestamp', 'must be at most 24 hours in the future'],
    ]);
    expect(errorsOf(track({ timestamp: 'yesterday' }))).toEqual([
      ['timestamp', expect.stringContaining('ISO 8601')],
    ]);
  });
});

describe('messages that are not valid', () => {
  test.each<[string, object, string]>([
    ['track without an event', { type: 'track', ...person }, 'event'],
    ['an event with a name that is too long', track({ event: 'x'.repeat(101) }), 'event'],
    ['group without a groupId', { type: 'group', ...person }, 'groupId'],
    ['no type', { event: 'x', ...person }, 'type'],
    ['an unknown type', { type: 'constructor', ...person }, 'type'],
    ['properties that are a list', track({ properties: [] }), 'properties'],
    ['a number that no double holds', track({ properties: { a: [2 ** 60] } }), 'properties.a.0'],
    [
      'such a trait of a company',
      { type: 'group', groupId: 'g', ...person, traits: { a: 2 ** 60 } },
      'traits.a',
    ],
    ['a messageId that is no Unicode', track({ messageId: 'a\ud800' }), 'messageId'],
    ['no object', [], ''],
  ])('%s: the error names the field', (_title, message, path) => {
    expect(errorsOf(message)?.map(([at]) => at)).toEqual([path]);
  });

  test('a body that is no batch is refused whole', () => {
    for (const body of [null, 17, [], {}, { batch: [] }, { batch: {} }, { batch: [track()], sentAt: 'x' }])
      expect(() => messagesIn(body, null, receivedAt)).toThrow(ProblemError);
    expect(() => messagesIn({ batch: Array(5_001).fill(track()) }, null, receivedAt)).toThrow(ProblemError);
  });

  test('a single message is of the type that its path says', () => {
    const { type: _, ...message } = track();
    expect(messagesIn(message, 'track', receivedAt)).toEqual([
      { sent: expect.objectContaining({ event_type: 'Order Completed' }) },
    ]);
    expect(messagesIn({ ...message, type: 'page' }, 'track', receivedAt)).toEqual([
      { sent: expect.objectContaining({ event_type: 'Order Completed' }) },
    ]);
  });
});

test('the write key of a body is a text, and is no part of an event', () => {
  expect(writeKeyIn('{"writeKey":"a.b"}')).toBe('a.b');
  for (const body of ['{}', '{"writeKey":7}', '{"writeKey":""}', '[]', 'null', '"writeKey"'])
    expect(writeKeyIn(body)).toBeUndefined();
  expect(() => writeKeyIn('{')).toThrow(ProblemError);
  const message = { ...track(), writeKey: 'a.b' };
  for (const events of [
    messagesIn(message, 'track', receivedAt),
    messagesIn({ batch: [message], writeKey: 'a.b' }, null, receivedAt),
  ])
    expect(JSON.stringify(events)).not.toContain('a.b');
});
