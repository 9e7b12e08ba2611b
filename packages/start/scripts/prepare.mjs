// Makes a checkout ready to run, with only Node and npm on the machine: installs the dependencies, builds, and bundles the services. The commands of
// package.json run it before their program, which then runs with the Node that is among the dependencies.
// Plain JavaScript without imports from node_modules, because there may be none yet.
//
//   node prepare.mjs                     installs, builds and bundles
//   node prepare.mjs --dependencies      only installs
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installationMark, root } from './root.mjs';

const nodeOfServices = 26;

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

function run(output, title, command, args) {
  const started = Date.now();
  output.write(`${title} …\n`);
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '0' },
  });
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
    fail(`${title}: failed. The command was: ${command} ${args.join(' ')}`);
  }
  output.write(`${title}: done in ${((Date.now() - started) / 1000).toFixed(0)} s\n`);
}

/**
 * Ends the process with a message when this Node is too old, npm fails, or there is no Node for the services.
 *
 * @param output the stream that progress is written to
 */
export function installDependencies(output = process.stdout) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node ${process.versions.node} is too old: install Node 20.19 or newer, then try again.`);

  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const mark = join(root, installationMark);
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== lock) {
    run(output, 'Installing dependencies', 'npm', [
      'ci',
      '--include=dev',
      '--include=optional',
      '--no-audit',
      '--no-fund',
    ]);
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(mark, lock);
  }

  // An optional dependency, because its packages do not cover every platform: there, this Node must be new enough.
  if (!existsSync(join(root, 'node_modules/.bin/node')) && major < nodeOfServices)
    fail(
      `There is no package of Node ${nodeOfServices} for ${process.platform} on ${process.arch}, and this is Node ${process.versions.node}: ` +
        `install Node ${nodeOfServices} or newer, then try again.`,
    );
}

/** Every folder of the checkout that the build compiles. */
export function workspaceFolders() {
  return ['packages', 'services'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'tsconfig.json'))),
  );
}

/**
 * Builds folders and those they reference, unless they are up to date. Ends the process with the compiler's messages
 * when it finds an error.
 *
 * @param output the stream that progress is written to
 */
export function build(folders = workspaceFolders(), output = process.stdout) {
  run(output, 'Building', join(root, 'node_modules/.bin/tsc'), ['-b', ...folders]);
}

/**
 * Bundles the services unless nothing has changed since; the compiler has checked them before. Ends the process with a message when that
 * fails.
 *
 * @param output the stream that progress is written to
 */
export async function bundleServices(output = process.stdout) {
  const { bundlesAreCurrent, makeBundles } = await import('./bundles.mjs');
  if (await bundlesAreCurrent()) return;
  const started = Date.now();
  output.write('Bundling the services …\n');
  await makeBundles().catch((error) => fail(`The services cannot be bundled: ${error.message}`));
  output.write(`Bundling the services: done in ${((Date.now() - started) / 1000).toFixed(0)} s\n`);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  installDependencies();
  if (!process.argv.includes('--dependencies')) {
    build();
    await bundleServices();
  }
}
