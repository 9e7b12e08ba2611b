// Five kinds of tests: unit (pure functions), int (one package against real servers), e2e (the running system through
// HTTP and topics), and two of e2e's that run after the others: faults, which load the machine and stop servers, and alone, which promise
// a time and need the machine for themselves. Only unit tests may run without the platform. A sixth kind, deploy, needs further tools and
// runs with `npm run test:deploy` only.
const faults =
  'silent-servers|database-away|database-crash|exactly-once|notifications-chaos|rolling-restart|three-brokers';
const alone = 'broker-away|two-instances';
const endToEnd = (names) => [`<rootDir>/packages/testing/src/${names}.e2e.test.ts`];
const common = {
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/packages/testing/scripts/patient-environment.mjs',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['/dist/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.run/'],
};

export default {
  // A busy machine is slow, not broken: only what hangs fails by time. Limits of single tests: patient-environment.mjs.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/packages/testing/scripts/longest-first.mjs',
  // What a file of ES modules has loaded is never freed: a process that has run a hundred files has no memory left. Beyond this, a worker
  // is replaced between two files.
  workerIdleMemoryLimit: '1GB',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.unit.test.ts'],
      setupFilesAfterEnv: ['<rootDir>/packages/testing/src/law-setup.ts'],
    },
    {
      ...common,
      displayName: 'int',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.int.test.ts'],
      setupFilesAfterEnv: ['<rootDir>/packages/testing/src/server-law-setup.ts'],
    },
    { ...common, displayName: 'e2e', testMatch: endToEnd(`!(${faults}|${alone})`) },
    { ...common, displayName: 'faults', testMatch: endToEnd(`@(${faults})`) },
    { ...common, displayName: 'alone', testMatch: endToEnd(`@(${alone})`) },
    {
      ...common,
      displayName: 'deploy',
      testMatch: ['<rootDir>/packages/testing/src/**/*.deploy.test.ts'],
    },
  ],
};
