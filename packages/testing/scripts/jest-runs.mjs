// Runs Jest for the commands of package.json: the same program and environment for all of them.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');
export const jest = join(root, 'node_modules/jest/bin/jest.js');

/**
 * @param endpoints the servers that the tests use; absent: the environment's, if any
 * @param patience what the tests' limits are multiplied by, unless the environment says it
 */
export function testEnvironment(endpoints, patience = 3) {
  return {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
    KAFKAJS_NO_PARTITIONER_WARNING: '1',
    TEST_PATIENCE: process.env.TEST_PATIENCE ?? String(patience),
    ...(endpoints && {
      KAFKA_BROKERS: endpoints.kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: endpoints.schemaRegistryUrl,
      MONGODB_URI: endpoints.mongodbUri,
    }),
  };
}

/**
 * Runs Jest, with its output on this process's output; resolves with the exit code.
 * @param priority of the processes, as in node:os
 */
export function runJest(args, environment, priority = 0) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [jest, ...args], {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (child.pid !== undefined) setPriority(child.pid, priority);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
