// `npm run test:deploy`: tests of what is deployed (alerts, dashboards, images, the chart) with the tools of their users, which have
// to be installed: a test whose tool is missing fails and says how to install it. Not a part of `npm test`. The servers are those of
// `npm run test:one`, and stay up for the next run.
//
//   npm run test:deploy                    every file *.deploy.test.ts
//   npm run test:deploy -- prometheus      the files whose path contains this; arguments go to Jest
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, workspaceFolders } from '../../start/scripts/prepare.mjs';
import { root, runJest, testEnvironment } from './jest-runs.mjs';

build(workspaceFolders());
const { useKeptPlatform } = await import(pathToFileURL(join(root, 'packages/platform/dist/index.js')).href);
const { endpoints, release } = await useKeptPlatform({
  stateFile: join(root, '.run/test-platform.json'),
  onProgress: (message) => process.stdout.write(`${message}\n`),
});
const args = ['--selectProjects', 'deploy', '--runInBand', '--forceExit', ...process.argv.slice(2)];
const code = await runJest(args, testEnvironment(endpoints));
release();
process.exit(code);
