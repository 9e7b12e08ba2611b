// Makes the folder that the image of a service holds: its bundle, and beside it the packages that cannot be part of a bundle.
//
//   node deploy/bundle-service.mjs SERVICE FOLDER
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { bundleOf, packagesBeside, services } from '../packages/start/scripts/bundles.mjs';
import { root } from '../packages/start/scripts/root.mjs';
import { licencesOf } from './licences.mjs';

const [service, folder] = process.argv.slice(2);
if (folder === undefined || !services().includes(service)) {
  process.stderr.write('Name a service and a folder: node deploy/bundle-service.mjs SERVICE FOLDER\n');
  process.exit(2);
}
await bundleService(service, resolve(folder));

async function bundleService(name, target) {
  await rm(target, { recursive: true, force: true });
  const outdir = join(target, 'services', name);
  const { files, inputs } = await bundleOf([name], outdir, () => 'main');
  await mkdir(outdir, { recursive: true });
  for (const { path, text } of files)
    await writeFile(path, path.endsWith('.map') ? withNamesInImage(text, path, target) : text);
  const code = files
    .filter(({ path }) => path.endsWith('.js'))
    .map(({ text }) => text)
    .join('\n');
  const beside = await copyPackagesBeside(code, target);
  await writeFile(join(target, 'package.json'), `${JSON.stringify({ type: 'module', private: true })}\n`);
  const bundled = inputs.map((file) => join(root, file));
  await writeFile(join(target, 'THIRD-PARTY-LICENCES.txt'), await licencesOf([...bundled, ...beside]));
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'));
}

/** The map with the paths of sources as if the checkout were where the image has the folder. */
function withNamesInImage(text, mapFile, target) {
  const map = JSON.parse(text);
  const inImage = (source) => join(target, relative(root, resolve(dirname(mapFile), source)));
  return JSON.stringify({
    ...map,
    sources: map.sources.map((source) => relative(dirname(mapFile), inImage(source))),
  });
}

/** Copies the packages that the code names, with those they need. Returns their folders. */
async function copyPackagesBeside(code, target) {
  const copied = [];
  for (const name of packagesBeside) {
    const named = [...code.matchAll(new RegExp(`["'\`](${name}(?:/[^"'\`]+)?)["'\`]`, 'g'))].map(
      ([, path]) => path,
    );
    if (name.startsWith('@expo-google-fonts')) copied.push(...(await copyFonts(named, target)));
    else if (named.length > 0) await copyPackage(name, join(root, 'node_modules'), target, copied);
  }
  return copied;
}

/** Only the files of fonts that are read: a package has every weight of its font. */
async function copyFonts(files, target) {
  for (const file of files.filter((one) => one.endsWith('.ttf'))) await copyModule(file, target);
  const packages = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')));
  for (const name of packages) await copyModule(`${name}/package.json`, target);
  return [...packages].map((name) => join(root, 'node_modules', name, 'package.json'));
}

function copyModule(path, target) {
  return cp(join(root, 'node_modules', path), join(target, 'node_modules', path));
}

async function copyPackage(name, from, target, copied) {
  const source = [join(from, name), join(root, 'node_modules', name)].find((one) => existsSync(one));
  // Optional dependencies are there for one machine each.
  if (source === undefined || copied.includes(join(source, 'package.json'))) return;
  copied.push(join(source, 'package.json'));
  await cp(source, join(target, 'node_modules', name), { recursive: true, filter: isNeeded });
  const { dependencies, optionalDependencies } = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  );
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
    await copyPackage(needed, join(source, 'node_modules'), target, copied);
}

/** Not what only a compiler, an editor, a test or a reader needs. */
function isNeeded(file) {
  return !/[.]([cm]?tsx?|map|md)$|\/(docs?|examples?|tests?|test-\w+|benchmarks?)$/i.test(file);
}
