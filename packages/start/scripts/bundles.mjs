// Makes a few files of the code of services and of the packages that they use: a process loads them in half of the time that two
// thousand modules take. A checkout starts its services from these bundles, and an image holds one. The bundler reads the TypeScript
// sources and does not check their types.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { installationMark, root } from './root.mjs';

/**
 * Packages that stay packages: three are compiled for the machine; resvg and the fonts are files that are read; piscina starts a file of
 * its own as a thread.
 */
export const packagesBeside = [
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
async function bundleWithThreads(outdir, programs, computed = new Map()) {
  const found = { threads: new Map(), inputs: new Set(), computed };
  const { metafile, outputFiles } = await bundle(outdir, programs, found);
  const made = { files: outputFiles, inputs: [...Object.keys(metafile.inputs), ...found.inputs] };
  const threads = Object.fromEntries([...found.threads].filter(([name]) => !(name in programs)));
  const ofThreads =
    Object.keys(threads).length === 0
      ? { files: [], inputs: [] }
      : await bundleWithThreads(outdir, threads, computed);
  return {
    files: [...made.files, ...ofThreads.files],
    inputs: [...new Set([...made.inputs, ...ofThreads.inputs])],
  };
}

const ofAllBuilds = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  conditions: ['source'],
  target: 'node26',
  banner: { js: commonJsNames },
  external: packagesBeside.flatMap((name) => [name, `${name}/*`]),
  metafile: true,
  write: false,
  logLevel: 'warning',
};

function bundle(outdir, entryPoints, found) {
  return build({
    ...ofAllBuilds,
    entryPoints,
    outdir,
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    plugins: [reading(found)],
  });
}

/**
 * A module that gives the results of another one's functions. Each function takes nothing, and its result is JSON that depends on nothing
 * but the code, and takes long to make.
 *
 * @returns the text of the module, and the files that the results are made of
 */
async function moduleOfResults(path) {
  const { metafile, outputFiles } = await build({ ...ofAllBuilds, entryPoints: [path] });
  const folder = await mkdtemp(join(root, 'node_modules/.computed-'));
  try {
    const file = join(folder, 'computed.mjs');
    await writeFile(file, outputFiles[0].contents);
    const functions = await import(pathToFileURL(file));
    const results = Object.entries(functions).map(([name, make]) => {
      const result = make();
      const json = JSON.stringify(result);
      // A text is JavaScript as it is; an object is read faster as JSON.
      return `export const ${name} = () => ${typeof result === 'string' ? json : `JSON.parse(${JSON.stringify(json)})`};`;
    });
    return { text: results.join('\n'), inputs: Object.keys(metafile.inputs) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads modules: maps of own code alone, the files that it starts as threads, and what can be computed now. */
function reading(found) {
  return {
    name: 'reading',
    setup({ onLoad }) {
      onLoad({ filter: /[.]computed[.]ts$/ }, async ({ path }) => {
        // Several programs may have the same module.
        const results = found.computed.get(path) ?? moduleOfResults(path);
        found.computed.set(path, results);
        const { text, inputs } = await results;
        for (const input of inputs) found.inputs.add(input);
        return { contents: text, loader: 'js' };
      });
      onLoad({ filter: /\/node_modules\/.*[.][cm]?js$/ }, async ({ path }) => {
        const text = otherContent[packagePath(path)] ?? (await readFile(path, 'utf8'));
        return { contents: text.replace(/\/\/# sourceMappingURL=.*\s*$/, '') + emptyMap };
      });
      onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
        const contents = await readFile(path, 'utf8');
        const required = /createRequire\(import\.meta\.url\)\('([^']+)'\)/.exec(contents)?.[1];
        if (required !== undefined)
          throw new Error(
            `${path} requires ${required} at run time, where a bundle has no packages: import it`,
          );
        for (const [, file] of contents.matchAll(/new URL\('(\.\/[^']+)\.js', import\.meta\.url\)/g))
          found.threads.set(basename(file), resolve(dirname(path), `${file}.ts`));
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
