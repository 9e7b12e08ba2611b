import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openDataDirectory } from './data-directory.js';
import { createProgress } from './progress.js';

test('where nothing can be written any more, servers come and go, and it is said', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lead-scoring-full-'));
  try {
    const said: string[] = [];
    const directory = await openDataDirectory(
      folder,
      createProgress((line) => said.push(line)),
    );
    // A folder in the place of the file fails its writing as a full disk does.
    mkdirSync(join(folder, 'platform.json.new'));
    directory.recordProcess('postgresql', process.pid, 'SIGINT');
    directory.forgetProcess('postgresql');
    expect(said.filter((line) => line.includes('could not be written'))).toHaveLength(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
