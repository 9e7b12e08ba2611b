// Makes a checkout ready to run, from nothing but Node and npm: dependencies, then the build.
// Plain JavaScript without imports from node_modules, because there may be none yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

function run(title, command, args, progress) {
  const started = Date.now();
  progress.write(`${title} …\n`);
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '0' },
  });
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
    fail(`${title}: failed. The command was: ${command} ${args.join(' ')}`);
  }
  progress.write(`${title}: done in ${((Date.now() - started) / 1000).toFixed(0)} s\n`);
}

/**
 * Installs the dependencies when the lock file has changed since the last time, and builds what has changed.
 * @param progress where to say so
 */
export function prepare(progress = process.stdout) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node ${process.versions.node} is too old: install Node 20.19 or newer, then try again.`);
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const mark = join(root, 'node_modules/.installed-lock');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== lock) {
    run('Installing dependencies', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], progress);
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(mark, lock);
  }
  const turbo = join(root, 'node_modules/.bin/turbo');
  run('Building', turbo, ['run', 'build', '--output-logs=errors-only', '--no-update-notifier'], progress);
  return root;
}
