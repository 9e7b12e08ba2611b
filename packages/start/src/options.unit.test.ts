// The options of `npm start`.
import { expect, test } from '@jest/globals';
import { help, readOptions } from './options.js';

test('without options there is sample data', () => {
  expect(readOptions([])).toEqual({ sampleData: true, help: false });
  expect(readOptions(['--empty'])).toEqual({ sampleData: false, help: false });
});

test.each(['--help', '-h'])('%s asks for the help, which names every option', (flag) => {
  expect(readOptions([flag]).help).toBe(true);
  for (const option of ['--empty', '--help']) expect(help).toContain(option);
});

test('an unknown option is named, with those that exist', () => {
  expect(() => readOptions(['--emtpy'])).toThrow(/^Unknown option --emtpy\. .*--empty and --help/);
});
