#!/usr/bin/env node
// The process of `lead-scoring`.
import { join } from 'node:path';
import { run } from './program.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output, such as `head`, has closed it.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  directory: process.cwd(),
  checkout: join(import.meta.dirname, '../../..'),
  stdin: process.stdin,
  output: {
    write: (text) => process.stdout.write(text),
    note: (text) => process.stderr.write(text),
    terminal: process.stderr.isTTY ? process.stderr : null,
  },
});
