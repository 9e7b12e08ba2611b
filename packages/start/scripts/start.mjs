// `npm start`, once `prepare.mjs` has made the checkout ready: hands over to the built start program.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../../..');
const { main } = await import(pathToFileURL(join(root, 'packages/start/dist/main.js')).href);
await main(root, process.argv.slice(2));
