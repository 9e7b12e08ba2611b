// `npm run test:chaos`: the end-to-end tests that kill services and brokers, or guess tokens, at their full size.
// `npm test` runs the same ones scaled down to what fits between the others.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../../..');
const { startPlatform } = await import(pathToFileURL(join(root, 'packages/platform/dist/index.js')).href);

const platform = await startPlatform({
  environment: process.env,
  onProgress: (message) => process.stdout.write(`${message}\n`),
});
const chaos = spawn(
  process.execPath,
  [
    join(root, 'node_modules/jest/bin/jest.js'),
    ...[
      '--selectProjects',
      'alone',
      'e2e',
      'int',
      '--runInBand',
      '--forceExit',
      '--testPathPatterns',
      'chaos|any-order|database-faults|exactly-once|three-brokers|testing/src/share|many-aliases|silent-servers|broker-away|two-instances|testing/src/injection',
    ],
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      CHAOS: 'full',
      NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
      KAFKAJS_NO_PARTITIONER_WARNING: '1',
      KAFKA_BROKERS: platform.endpoints.kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: platform.endpoints.schemaRegistryUrl,
      MONGODB_URI: platform.endpoints.mongodbUri,
    },
  },
);
const code = await new Promise((resolve) => chaos.on('close', (exit) => resolve(exit ?? 1)));
await platform.stop();
process.exit(code);
