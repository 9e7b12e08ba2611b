// `npm run dev`: `npm start` that follows the sources. A change is built, and the services that it affects are restarted.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './root.mjs';

enableCompileCache(join(root, 'node_modules/.cache/compiled'));
const built = (file) => import(pathToFileURL(join(root, 'packages/start/dist', file)).href);
const { main } = await built('main.js');
const { writeBundles } = await import('./bundles.mjs');
const { followSources } = await built('development/source-follower.js');
await main(root, process.argv.slice(2), (system) => {
  const say = (message) => process.stdout.write(`${message}\n`);
  say(
    '  Following packages/*/src and services/*/src: a change is built and restarts the services that it affects.\n',
  );
  return followSources({ root, system, say, bundle: writeBundles });
});
