// `npm run bench`: makes the checkout ready, then hands over to the built benchmark program.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from '../../start/scripts/prepare.mjs';

const root = prepare();
const { main } = await import(pathToFileURL(join(root, 'packages/benchmarks/dist/main.js')).href);
await main(root, process.argv.slice(2));
