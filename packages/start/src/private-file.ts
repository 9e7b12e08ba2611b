// Files with secrets, readable by their owner only.
import { open, rename } from 'node:fs/promises';

/** Writes a file atomically, as JSON. */
export async function writePrivate(file: string, content: unknown): Promise<void> {
  const temporary = `${file}.${String(process.pid)}`;
  const handle = await open(temporary, 'w', 0o600);
  await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
  await handle.sync();
  await handle.close();
  await rename(temporary, file);
}
