// The Docker provider's pure parts.
import { expect, test } from '@jest/globals';
import { composeProject, remoteEngineObstacle } from './docker.js';

test.each([undefined, '', 'unix:///var/run/docker.sock', 'tcp://127.0.0.1:2375', 'tcp://localhost:2375'])(
  'an engine at %s is on this machine and can be used',
  (dockerHost) => {
    expect(remoteEngineObstacle(dockerHost)).toBeUndefined();
  },
);

test.each(['tcp://docker:2375', 'ssh://user@host.example'])(
  'an engine at %s is on another machine and cannot be used',
  (dockerHost) => {
    expect(remoteEngineObstacle(dockerHost)).toMatch(/on another machine/);
  },
);

test('each folder has a compose project of its own, the same at each start', () => {
  expect(composeProject('/one/.run')).toBe(composeProject('/one/.run'));
  expect(composeProject('/one/.run')).not.toBe(composeProject('/two/.run'));
  expect(composeProject('/one/.run')).toMatch(/^[a-z0-9-]+$/);
});
