// Makes the folder that the image of a service holds: its own code and that of the packages it uses in a few files, and beside
// them the packages that cannot be part of these files. It reads the TypeScript sources and does not check their types.
//
//   node deploy/bundle-service.mjs SERVICE FOLDER
import { cp, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { licencesOf } from './licences.mjs';

const root = await realpath(join(import.meta.dirname, '..'));

/**
 * Packages that stay packages: parts of kafkajs are required by their paths; three are compiled for the machine; resvg and the fonts
 * are files that are read; piscina starts a file of its own as a thread.
 */
const packagesBeside = [
  'kafkajs',
  'snappy',
  'lz4-napi',
  '@node-rs/crc32',
  '@resvg/resvg-wasm',
  '@expo-google-fonts',
  'piscina',
];

/** The programs of a service beside main, by the name of their file. */
const furtherPrograms = { gateway: { 'kafka-source': 'services/gateway/src/kafka-source/main.ts' } };

/** A source map that maps nothing: stacks name the file of the package's line in the bundle, and the map stays small. */
const emptyMap = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3,"sources":["package"],"mappings":"AAAA"}').toString('base64')}`;

/**
 * Modules of packages with another content. pino asks from where it was called, which only its transports use, and none is used here. For
 * the answer Node would parse the source map of all code at each start, and keep it.
 */
const otherContent = { 'pino/lib/caller.js': 'module.exports = () => [];' };

/** Bundled CommonJS modules call `require` for Node's own modules, and ES modules have none. */
const commonJsNames = `import { createRequire as bundledCreateRequire } from 'node:module';
const require = bundledCreateRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;

const [service, folder] = process.argv.slice(2);
if (
  service === undefined ||
  folder === undefined ||
  !existsSync(join(root, 'services', service, 'src/main.ts'))
) {
  process.stderr.write('Name a service and a folder: node deploy/bundle-service.mjs SERVICE FOLDER\n');
  process.exit(2);
}
await bundleService(service, resolve(folder));

async function bundleService(name, target) {
  await rm(target, { recursive: true, force: true });
  const outdir = join(target, 'services', name);
  const { metafile, outputFiles } = await bundleWithThreads(outdir, {
    main: join(root, 'services', name, 'src/main.ts'),
    telemetry: join(root, 'packages/service/src/telemetry.ts'),
    ...furtherPrograms[name],
  });
  await mkdir(outdir, { recursive: true });
  for (const { path, text } of outputFiles)
    await writeFile(path, path.endsWith('.map') ? withNamesInImage(text, path, target) : text);
  const code = outputFiles
    .filter(({ path }) => path.endsWith('.js'))
    .map(({ text }) => text)
    .join('\n');
  const beside = await copyPackagesBeside(code, target);
  await writeFile(join(target, 'package.json'), `${JSON.stringify({ type: 'module', private: true })}\n`);
  const bundled = Object.keys(metafile.inputs).map((file) => join(root, file));
  await writeFile(join(target, 'THIRD-PARTY-LICENCES.txt'), await licencesOf([...bundled, ...beside]));
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'));
}

/** Files that code starts as threads (`new URL('./x.js', import.meta.url)`) become programs of the bundle, beside the file that names them. */
async function bundleWithThreads(outdir, programs) {
  const threads = new Map();
  const result = await bundle(outdir, programs, threads);
  const found = Object.fromEntries([...threads].filter(([name]) => !(name in programs)));
  return Object.keys(found).length === 0 ? result : bundleWithThreads(outdir, { ...programs, ...found });
}

function bundle(outdir, entryPoints, threads) {
  return build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    conditions: ['source'],
    target: `node${process.versions.node}`,
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    banner: { js: commonJsNames },
    external: packagesBeside.flatMap((name) => [name, `${name}/*`]),
    plugins: [reading(threads)],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
}

/** Reads modules: maps of own code alone, and the files that it starts as threads. */
function reading(threads) {
  return {
    name: 'reading',
    setup({ onLoad }) {
      onLoad({ filter: /\/node_modules\/.*[.][cm]?js$/ }, async ({ path }) => {
        const text = otherContent[packagePath(path)] ?? (await readFile(path, 'utf8'));
        return { contents: text.replace(/\/\/# sourceMappingURL=.*\s*$/, '') + emptyMap };
      });
      onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
        const contents = await readFile(path, 'utf8');
        for (const [, file] of contents.matchAll(/new URL\('(\.\/[^']+)\.js', import\.meta\.url\)/g))
          threads.set(basename(file), resolve(dirname(path), `${file}.ts`));
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** The path of a file of a package from the folder of all packages: `pino/lib/caller.js`. */
function packagePath(path) {
  return path.slice(path.lastIndexOf('/node_modules/') + '/node_modules/'.length);
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
