// The architecture as rules: what may import what. See docs/decisions and the README's picture.
const test = '\\.(unit|int|e2e)\\.test\\.ts$|/testing/';

/** The files of a capability that hold its domain. */
const pure = (names) => `^services/[^/]+/src/[^/]+/(${names})[.]ts$`;

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      comment: 'Deciders and folds import contracts, scoring-domain and each other, nothing that does I/O.',
      severity: 'error',
      from: { path: pure('decide|decide-[a-z]+|evolve|fold|state|[a-z]+-fold|plan|[a-z-]+-sections?') },
      to: {
        pathNot: [
          pure(
            'decide|decide-[a-z]+|evolve|fold|state|[a-z]+-fold|plan|[a-z-]+-sections?|messages|events|commands|model|[a-z-]+-model',
          ),
          '^packages/(contracts|scoring-domain)/',
        ],
      },
    },
    {
      name: 'scoring-domain-is-pure',
      severity: 'error',
      from: { path: '^packages/scoring-domain/src/', pathNot: test },
      to: { pathNot: '^packages/(contracts|scoring-domain)/' },
    },
    {
      name: 'contracts-are-the-bottom',
      severity: 'error',
      from: { path: '^packages/contracts/' },
      to: { path: '^(packages|services)/', pathNot: ['^packages/contracts/', 'node_modules/'] },
    },
    {
      name: 'contracts-hold-no-fold',
      comment:
        'A fold or an explanation computes from records and answers: it belongs to its service, or to scoring-domain. intake/ makes records of requests.',
      severity: 'error',
      from: {
        path: '^packages/contracts/src/',
        pathNot: ['/src/((records|routes|documents|intake)/|index[.]ts$)', test],
      },
      to: { path: '^packages/contracts/src/(records|routes)/' },
    },
    {
      name: 'services-stand-alone',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: test },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'notification-reads-downwards',
      comment: 'What notification knows of scoring does not know what is decided with it.',
      severity: 'error',
      from: { path: '^services/notification/src/(explanations|levels)/', pathNot: test },
      to: { path: '^services/notification/src/(configuration|firing|delivery|resealing)/' },
    },
    {
      name: 'packages-never-import-services',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/(testing|benchmarks)/' },
      to: { path: '^services/' },
    },
    {
      name: 'testing-only-in-tests',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: ['^packages/(testing|benchmarks)/', test] },
      to: { path: '^packages/testing/' },
    },
    {
      name: 'kafka-only-in-event-log',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^packages/(event-log|platform|testing|benchmarks)/', test],
      },
      to: { path: 'node_modules/(kafkajs|@kafkajs)/' },
    },
    {
      name: 'mongodb-only-in-read-model',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^packages/(read-model|platform|testing|benchmarks)/', test],
      },
      to: { path: 'node_modules/mongodb/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'outbound-only-where-users-name-addresses',
      comment: 'Who makes requests for users; the domain is not among them (domain-is-pure).',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^packages/(outbound|testing)/', '^services/(site-analysis|notification)/', test],
      },
      to: { path: '^packages/outbound/' },
    },
    {
      name: 'http-clients-only-in-outbound-and-query-port',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^packages/(outbound|testing|benchmarks)/', '^packages/service/src/query-port\\.ts$', test],
      },
      to: { path: 'node_modules/(undici|axios|got|node-fetch)/' },
    },
    {
      name: 'express-only-at-the-edge',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^packages/(service|benchmarks)/', '^services/gateway/', 'queries\\.ts$', test],
      },
      to: { path: 'node_modules/express/', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/|\\.d\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
};
