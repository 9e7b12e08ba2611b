// The description of a source: what is wrong with it is said with its place.
import { expect, test } from '@jest/globals';
import { parseSourceFile } from './source-file.js';

const event = { alias_kind: { fixed: 'email' }, alias: { value: 'email' }, event_type: { fixed: 'View' } };
const whole = { name: 'shop', topic: 'orders', format: 'json', event };
const parse = (file: object) => parseSourceFile(JSON.stringify(file));

test('what is left out has its default', () => {
  expect(parse(whole)).toEqual({
    ...whole,
    key_format: 'text',
    start_at: 'earliest',
    fire_triggers: true,
  });
});

test.each<[string, object, string]>([
  ['a format that does not exist', { ...whole, format: 'protobuf' }, 'format'],
  ['a name with other characters', { ...whole, name: 'My Shop' }, 'name must be 1 to 40 of a-z, 0-9 and -'],
  ['an unknown field', { ...whole, topics: ['a'] }, 'topics'],
  ['no event type', { ...whole, event: { ...event, event_type: undefined } }, 'event must have event_type'],
  ['both forms of aliases', { ...whole, event: { ...event, aliases: [] } }, 'event must have event_type'],
  ['no mapping', { ...whole, event: undefined }, 'event must have event_type'],
])('%s is refused', (_what, file, problem) => {
  const parsed = parse(file);
  expect('problems' in parsed && parsed.problems.join('\n')).toContain(problem);
});

test('a file that is not JSON is refused', () => {
  expect(parseSourceFile('name: shop')).toMatchObject({
    problems: [expect.stringContaining('is not JSON')],
  });
});
