// `npm start`, once `prepare.mjs` has made the checkout ready: hands over to the built start program.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './root.mjs';

enableCompileCache(join(root, 'node_modules/.cache/compiled'));
const { main } = await import(pathToFileURL(join(root, 'packages/start/dist/main.js')).href);
await main(root, process.argv.slice(2));
