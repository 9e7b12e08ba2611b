import { expect, test } from '@jest/globals';
import { programEnvironment } from './program-environment.js';

test('programs find those of the administrator, after all that PATH names', () => {
  const own = { PATH: '/opt/node/bin:/usr/bin:/bin', HOME: '/root' };
  expect(programEnvironment({ LC_ALL: 'C.UTF-8' }, own)).toEqual({
    PATH: '/opt/node/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: '/root',
    LC_ALL: 'C.UTF-8',
  });
});

test('a PATH that names them stays as it is', () => {
  const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  expect(programEnvironment({}, { PATH })).toEqual({ PATH });
});
