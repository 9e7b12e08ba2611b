// The pages for operators are up to date, and name only what exists.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  alertDeclarations,
  allowedBy,
  dashboardDeclarations,
  instrumentedMetrics,
  metricDeclarations,
  prometheusName,
  recordsOf,
  seriesOf,
  serverAccessVariables,
  serviceNames,
  type MetricDeclaration,
} from '@lead-scoring/contracts';
import { telemetrySettings } from '@lead-scoring/service';
import { passedSettings } from '@lead-scoring/start';
import { operationsPages } from './operations-pages.js';
import { processSettings } from './process-settings.js';
import { namedIn } from './promql.js';

const checkout = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');

test('every page is what its declarations make', async () => {
  for (const [path, text] of Object.entries(await operationsPages(checkout, 'sources')))
    // `npm run build && npm run refresh-operations-pages` writes them.
    expect({ path, text: existsSync(join(checkout, path)) ? read(path) : '' }).toEqual({ path, text });
});

describe('settings', () => {
  test('each has a meaning, and allowed values in words', async () => {
    const inItsMeaning = new Set(['SOURCE_FILE', 'ALLOW_PRIVATE_TARGETS', 'OIDC_ISSUERS']);
    for (const { process, shape } of await processSettings(checkout, 'sources'))
      for (const [variable, schema] of Object.entries(shape)) {
        expect({ process, variable, meaning: schema.description }).toEqual({
          process,
          variable,
          meaning: expect.stringMatching(/^.{10,}\.$/),
        });
        if (!inItsMeaning.has(variable))
          expect({ process, variable, allowed: allowedBy(schema) }).not.toMatchObject({
            allowed: 'see the meaning',
          });
      }
  });

  test('`npm start` passes on each setting of a service that it does not set itself, and nothing else', async () => {
    const ofStart = [
      ...['BOOTSTRAP_ORGANISATION', 'BOOTSTRAP_OU', 'BOOTSTRAP_TOKEN', 'HOST', 'INTERNAL_PORT', 'PORT'],
      ...['INTERNAL_SECRET', 'SEALING_SECRET', 'TOKEN_SECRET', 'READY_FILE', 'NAMESPACE'],
      ...['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'MONGODB_URI', 'OTEL_SERVICE_NAME'],
      ...['INGEST_URL', 'SCORING_URL', 'NOTIFICATION_URL', 'SHARE_URL', 'SITE_ANALYSIS_URL'],
    ];
    const services = (await processSettings(checkout, 'sources')).filter(
      ({ process }) => process !== 'kafka-source',
    );
    const settings = new Set([
      ...services.flatMap(({ shape }) => Object.keys(shape)),
      ...Object.keys(telemetrySettings),
    ]);
    expect([...new Set<string>([...passedSettings, ...ofStart, ...serverAccessVariables])].sort()).toEqual(
      [...settings].sort(),
    );
  });

  test('what OpenTelemetry reads from the environment is on the page', () => {
    const source = read('packages/service/src/telemetry.ts');
    const variables = [...source.matchAll(/\b(OTEL_[A-Z_]+)\b/g)].map(([name]) => name);
    const page = read('docs/settings.md');
    expect(variables.filter((name) => !page.includes(`\`${name}\``) && name !== 'OTEL_')).toEqual([]);
  });
});

const metrics: readonly MetricDeclaration[] = [...Object.values(metricDeclarations), ...instrumentedMetrics];
const series = new Set(['up', ...metrics.flatMap((metric) => [...seriesOf(metric), prometheusName(metric)])]);
/** Labels that Prometheus itself gives every series. */
const ofScrape = ['instance', 'job'];
const labelsBySeries = new Map<string, ReadonlySet<string>>([
  ['up', new Set(ofScrape)],
  ...metrics.flatMap((metric) =>
    seriesOf(metric).map((name): [string, ReadonlySet<string>] => [
      name,
      new Set([...Object.keys(metric.labels), ...ofScrape, ...(name.endsWith('_bucket') ? ['le'] : [])]),
    ]),
  ),
]);

/** The series, labels and types of records that the expression names and that do not exist. */
function unknownIn(expression: string): string[] {
  const named = namedIn(expression);
  const known = named.series.flatMap((one) => {
    const labels = labelsBySeries.get(one.series);
    if (!labels) return [one.series];
    return one.selectors.flatMap(({ label, value }) => {
      if (!labels.has(label)) return [`${one.series}{${label}}`];
      return one.series === 'event_log_decided_records_total' && label === 'type'
        ? value.split('|').filter((type) => !recordTypes.has(type))
        : [];
    });
  });
  const grouped = named.series.flatMap(({ series: name }) =>
    named.grouping.filter((label) => !labelsBySeries.get(name)?.has(label)),
  );
  return [...known, ...grouped];
}

const recordTypes = new Set(
  serviceNames.flatMap((name) => recordsOf(`${name}.events`)).map(({ type }) => type),
);

describe('alerts', () => {
  test.each(alertDeclarations)(
    '$name asks for series and labels that exist, and has a runbook',
    ({ expression, runbook }) => {
      expect(namedIn(expression).series.length).toBeGreaterThan(0);
      expect(unknownIn(expression)).toEqual([]);
      expect(existsSync(join(checkout, runbook))).toBe(true);
    },
  );

  test.each(alertDeclarations)('$name has a case in deploy/alerts.test.yaml', ({ name }) => {
    expect(read('deploy/alerts.test.yaml')).toContain(`alertname="${name}",alertstate="firing"`);
  });
});

describe('dashboards', () => {
  const panels = dashboardDeclarations.flatMap((dashboard) =>
    dashboard.panels.map((panel) => ({ of: dashboard.name, ...panel })),
  );

  test.each(panels)('$of, $title: asks for series and labels that exist', ({ queries }) => {
    for (const { expression, legend } of queries) {
      expect(namedIn(expression).series.length).toBeGreaterThan(0);
      expect(unknownIn(expression)).toEqual([]);
      const inLegend = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const left = namedIn(expression).grouping;
      expect(inLegend.filter((label) => !left.includes(label))).toEqual([]);
    }
  });

  test('a runbook that a panel names exists', () => {
    const named = panels.flatMap(({ meaning }) => meaning.match(/docs\/[\w/-]+(?:\.md)?/g) ?? []);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
  });

  test.each([
    ['a renamed metric', 'sum(rate(event_log_recs_total[5m]))', ['event_log_recs_total']],
    ['a renamed label', 'gateway_events_total{result="accepted"}', ['gateway_events_total{result}']],
    ['a label that is grouped by', 'sum by (le, shop) (up)', ['le', 'shop']],
    [
      'a renamed record',
      'rate(event_log_decided_records_total{type=~"LeadScored|LeadRated"}[1h])',
      ['LeadRated'],
    ],
  ])('%s is found', (_, expression, unknown) => {
    expect(unknownIn(expression)).toEqual(unknown);
  });
});

describe('runbooks', () => {
  const folder = join(checkout, 'docs/runbooks');
  const pages = readdirSync(folder).map((name) => `docs/runbooks/${name}`);
  const sources = sourceText();

  test.each([...pages, 'docs/sources.md'])('%s names only metrics that exist', (path) => {
    const named =
      read(path).match(
        /\b(?:event_log|topic_source|process|nodejs|v8js|http_server|http_client)_[a-z0-9_]+/g,
      ) ?? [];
    expect(named.filter((name) => !series.has(name))).toEqual([]);
  });

  test.each(pages)('%s quotes only words that a log has', (path) => {
    const quoted = [...read(path).matchAll(/\blogs? (?:says|shows|has) `([^`]+)`/g)].map(
      ([, words = '']) => words,
    );
    expect(quoted.filter((words) => !sources.includes(words))).toEqual([]);
  });

  test('the list of runbooks has each of them', () => {
    const list = read('docs/runbooks/README.md');
    const names = pages.map((path) => path.slice('docs/runbooks/'.length));
    expect(names.filter((name) => name !== 'README.md' && !list.includes(`(${name})`))).toEqual([]);
  });
});

/** The text of all sources but tests. */
function sourceText(): string {
  return ['packages', 'services']
    .flatMap((parent) => readdirSync(join(checkout, parent)).map((name) => join(parent, name, 'src')))
    .filter((folder) => existsSync(join(checkout, folder)))
    .flatMap((folder) =>
      readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map(read)
    .join('\n');
}
