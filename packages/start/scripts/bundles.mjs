// Makes a few files of the code of services and of the packages that they use: a process loads them in half of the time that two
// thousand modules take. A checkout starts its services from these bundles, and an image holds one. The bundler reads the TypeScript
// sources and does not check their types.
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { installationMark, root } from './root.mjs';

/**
 * Packages that stay packages: parts of kafkajs are required by their paths; three are compiled for the machine; resvg and the fonts
 * are files that are read; piscina starts a file of its own as a thread.
 */
export const packagesBeside = [
  'kafkajs',
  'snappy',
  'lz4-napi',
  '@node-rs/crc32',
  '@resvg/resvg-wasm',
  '@expo-google-fonts',
  'piscina',
];

/** The programs beside the main program of a service, by the name of their file. */
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

/** Files of earlier bundles are kept for a day: a running process may load a chunk of its own bundle later. */
const keptMs = 24 * 60 * 60 * 1_000;

export function services() {
  return readdirSync(join(root, 'services')).filter((name) => existsSync(join(root, mainOf(name))));
}

function mainOf(service) {
  return `services/${service}/src/main.ts`;
}

/**
 * The files of a bundle, with their content, and the files that they are made of, as paths from the root. The programs are `telemetry`
 * and, for each service, a file of the name that `nameOf` gives to its main program.
 *
 * @param outdir where the files are to be: packages are looked for from there
 */
export async function bundleOf(names, outdir, nameOf = (service) => service) {
  const programs = names.map((service) => ({
    [nameOf(service)]: join(root, mainOf(service)),
    ...furtherPrograms[service],
  }));
  return bundleWithThreads(
    outdir,
    Object.assign({ telemetry: join(root, 'packages/service/src/telemetry.ts') }, ...programs),
  );
}

/** Files that code starts as threads (`new URL('./x.js', import.meta.url)`) become programs beside the file that names them. */
async function bundleWithThreads(outdir, programs) {
  const found = new Map();
  const { metafile, outputFiles } = await bundle(outdir, programs, found);
  const made = { files: outputFiles, inputs: Object.keys(metafile.inputs) };
  const threads = Object.fromEntries([...found].filter(([name]) => !(name in programs)));
  if (Object.keys(threads).length === 0) return made;
  const ofThreads = await bundleWithThreads(outdir, threads);
  return {
    files: [...made.files, ...ofThreads.files],
    inputs: [...new Set([...made.inputs, ...ofThreads.inputs])],
  };
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
    target: 'node26',
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

/** Has the program of each service, `scoring.js`, and `telemetry.js`. */
const bundleFolder = join(root, 'packages/start/dist/services');
/**
 * A JSON file about the bundles. `inputs` lists the files whose change makes the bundles outdated, as paths from the root; `begunAt` is the
 * time, in milliseconds since 1970, at which the bundler began to read them.
 */
const recordFile = join(bundleFolder, 'made-of.json');

/** Whether no file that the bundles are made of has changed since. */
export async function bundlesAreCurrent() {
  try {
    const { inputs, begunAt } = JSON.parse(await readFile(recordFile, 'utf8'));
    const changes = await Promise.all(inputs.map(async (file) => (await stat(join(root, file))).mtimeMs));
    return changes.every((changedAt) => changedAt < begunAt);
  } catch (error) {
    // There are no bundles, or a source is gone.
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Makes the bundles of all services in the checkout. */
export async function makeBundles() {
  const begunAt = Date.now();
  const files = await writeBundles(services());
  const own = files.filter((file) => !file.includes('node_modules/'));
  // The time of the installation stands for that of each file of a package.
  const inputs = [...own, 'packages/start/scripts/bundles.mjs', installationMark];
  await writeFile(recordFile, `${JSON.stringify({ inputs, begunAt })}\n`);
}

/** Makes the bundles of some services anew; all of them are made at the next start. Returns the files that they are made of, as paths from the root. */
export async function writeBundles(names) {
  const begunAt = Date.now();
  const { files, inputs } = await bundleOf(names, bundleFolder);
  await mkdir(bundleFolder, { recursive: true });
  for (const { path, contents } of files) await writeFile(path, contents);
  for (const file of await readdir(bundleFolder))
    if ((await stat(join(bundleFolder, file))).mtimeMs < begunAt - keptMs) await rm(join(bundleFolder, file));
  return inputs;
}
