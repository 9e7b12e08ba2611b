// `npm run bench`, once the checkout is ready: hands over to the built benchmark program.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../../..');
const { main } = await import(pathToFileURL(join(root, 'packages/benchmarks/dist/main.js')).href);
await main(root, process.argv.slice(2));
