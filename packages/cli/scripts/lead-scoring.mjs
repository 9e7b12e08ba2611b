#!/usr/bin/env node
// `npx lead-scoring`: runs the built command line. A separate file, so that it exists and is executable before a build.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(fileURLToPath(main))) await import(main.href);
else {
  process.stderr.write(
    'lead-scoring is not built yet. Run `npm start` once, or `npm install && npm run build`.\n',
  );
  process.exitCode = 69;
}
