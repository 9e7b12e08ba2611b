// Four kinds of tests: unit (pure functions), int (one package against real servers), e2e (the running system through
// HTTP and topics), and alone, those of e2e that load the machine, or promise a time, and need it for themselves. Only unit
// tests may run without the platform. A fifth kind, deploy, needs further tools and runs with `npm run test:deploy` only.
const alone =
  '(broker-away|silent-servers|database-away|database-crash|exactly-once|notifications-chaos|three-brokers|two-instances).e2e.test.ts';
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
    { ...common, displayName: 'int', testMatch: ['<rootDir>/{packages,services}/*/src/**/*.int.test.ts'] },
    { ...common, displayName: 'e2e', testMatch: [`<rootDir>/packages/testing/src/!${alone}`] },
    {
      ...common,
      displayName: 'deploy',
      testMatch: ['<rootDir>/packages/testing/src/**/*.deploy.test.ts'],
    },
    { ...common, displayName: 'alone', testMatch: [`<rootDir>/packages/testing/src/@${alone}`] },
  ],
};
