import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openDataDirectory } from './data-directory.js';
import { createProgress } from './progress.js';

test('when its state file cannot be written, servers still start and stop, and a message says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lead-scoring-full-'));
  try {
    const said: string[] = [];
    const directory = await openDataDirectory(
      folder,
      createProgress((line) => said.push(line)),
    );
    // A folder in the place of the file makes the write fail, as a full disk does.
    mkdirSync(join(folder, 'platform.json.new'));
    directory.recordProcess('postgresql', process.pid, 'SIGINT');
    directory.forgetProcess('postgresql');
    expect(said.filter((line) => line.includes('could not be written'))).toHaveLength(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
