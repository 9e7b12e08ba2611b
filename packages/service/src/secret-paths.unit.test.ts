import { expect, test } from '@jest/globals';
import { loggedPath } from './secret-paths.js';

test.each([
  ['/share/lsh_abc', '/share/{token}'],
  ['/share/lsh_abc?utm=x', '/share/{token}?utm=x'],
  ['/shares/lsh_abc', '/shares/{token}'],
  ['/public/score-explain/lsh_abc', '/public/score-explain/{token}'],
  ['/public/score-explain/lsh_abc/preview.png', '/public/score-explain/{token}/preview.png'],
  ['/public/score-explain/a%2Fb/csv', '/public/score-explain/{token}/csv'],
])('the token of %s is not logged', (path, logged) => {
  expect(loggedPath(path)).toBe(logged);
});

test.each(['/leads', '/leads/1/share-explain', '/leads/1/shares', '/settings/tokens/7', '/share', '/'])(
  '%s is logged as it is',
  (path) => {
    expect(loggedPath(path)).toBe(path);
  },
);
