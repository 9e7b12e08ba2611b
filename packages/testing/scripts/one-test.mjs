// Finds the test file that an argument of `npm run test:one` names, and the packages to build for it. Pure functions of paths.

const kinds = /\.(unit|int|e2e)\.test\.ts$/;

/** `unit`, `int` or `e2e`; undefined for a file that is not a test. */
export function kindOf(file) {
  return kinds.exec(file)?.[1];
}

/**
 * The tests that a path or a part of a path names: the test with exactly this path, or else all whose path contains it.
 *
 * @param tests paths from the root of the checkout
 */
export function testsNamed(tests, wanted) {
  const path = wanted.replace(/^\.\//, '');
  return tests.includes(path) ? [path] : tests.filter((test) => test.includes(path));
}

/** The folders that must be built before the test runs. Jest compiles the sources that a test imports by itself. */
export function foldersToBuild(file, workspaces) {
  switch (kindOf(file)) {
    case 'unit':
      return [];
    case 'int':
      return [...new Set(['packages/platform', file.split('/').slice(0, 2).join('/')])];
    default:
      // The tests start the services, whose bundles the compiler does not check, and some call the built command line.
      return ['packages/testing', 'packages/cli', ...workspaces.filter((one) => one.startsWith('services/'))];
  }
}

/** The arguments of Jest. `--forceExit`, because int and e2e tests may leave connections open. */
export function jestArguments(file, options) {
  const kind = kindOf(file);
  const projects = kind === 'e2e' ? ['e2e', 'faults', 'alone'] : [kind];
  return [
    ...['--selectProjects', ...projects],
    ...['--runTestsByPath', file],
    ...(kind === 'unit' ? [] : ['--forceExit']),
    ...options,
  ];
}
