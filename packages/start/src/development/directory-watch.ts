// Reports the files under a folder that change. It has one watch per directory: Node's own recursive watch on Linux has one per
// file, and loses a file that an editor replaces.
import { existsSync, readdirSync, statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

export interface DirectoryWatch {
  stop(): void;
}

/** @param onChange is called with the path of each file that was written, made, renamed or removed */
export function watchDirectory(directory: string, onChange: (file: string) => void): DirectoryWatch {
  const watchers = new Map<string, FSWatcher>();
  const add = (folder: string): void => {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      if (name === null) return;
      const path = join(folder, name);
      if (isDirectory(path)) addAll(path);
      else onChange(path);
    });
    // The folder was removed.
    watcher.on('error', () => {
      watcher.close();
      watchers.delete(folder);
    });
    watchers.set(folder, watcher);
  };
  const addAll = (folder: string): void => {
    add(folder);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) add(join(entry.parentPath, entry.name));
  };
  addAll(directory);
  return {
    stop() {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
