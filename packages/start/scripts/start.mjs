// `npm start`: makes the checkout ready, then hands over to the built start program.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';

const root = prepare();
const { main } = await import(pathToFileURL(join(root, 'packages/start/dist/main.js')).href);
await main(root, process.argv.slice(2));
