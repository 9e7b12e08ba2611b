import { describe, expect, test } from '@jest/globals';
import { createLogger } from './logger.js';

describe('the log', () => {
  test('names the service and replaces secrets, wherever in the first levels they are', () => {
    const lines: string[] = [];
    const logger = createLogger({ name: 'gateway', destination: { write: (line) => void lines.push(line) } });
    logger.info(
      {
        authorization: 'hunter2',
        req: {
          headers: {
            authorization: 'hunter2',
            cookie: 'hunter2',
            'x-internal-authorization': 'hunter2',
            host: 'kept',
          },
        },
        body: { token: 'hunter2', client_secret: 'hunter2', name: 'kept too' },
        INTERNAL_SECRET: 'hunter2',
      },
      'request',
    );
    expect(lines.join('')).not.toContain('hunter2');
    expect(JSON.parse(lines.join(''))).toMatchObject({
      name: 'gateway',
      level: 'info',
      msg: 'request',
      req: { headers: { host: 'kept' } },
      body: { name: 'kept too' },
    });
  });
});
