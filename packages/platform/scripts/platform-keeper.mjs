// The process that keeps a platform running between runs: `node platform-keeper.mjs STATE_FILE`. See src/platform-keeper.ts.
import { keepPlatform } from '../dist/platform-keeper.js';
import { startPlatform } from '../dist/platform.js';

const [stateFile] = process.argv.slice(2);
const keeper = await keepPlatform({
  stateFile,
  start: (onProgress) =>
    startPlatform({
      environment: process.env,
      onProgress: (message) => {
        process.stdout.write(`${message}\n`);
        onProgress(message);
      },
    }),
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void keeper?.stop());
await keeper?.ended;
process.exit(0);
