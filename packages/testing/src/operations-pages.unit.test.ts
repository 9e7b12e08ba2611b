// The pages for operators are up to date, and name only what exists.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  alertDeclarations,
  allowedBy,
  instrumentedMetrics,
  metricDeclarations,
  prometheusName,
  seriesOf,
  serverAccessVariables,
} from '@lead-scoring/contracts';
import { telemetrySettings } from '@lead-scoring/service';
import { passedSettings } from '@lead-scoring/start';
import { operationsPages } from './operations-pages.js';
import { processSettings } from './process-settings.js';

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

const series = new Set([
  'up',
  ...[...Object.values(metricDeclarations), ...instrumentedMetrics].flatMap((metric) => [
    ...seriesOf(metric),
    prometheusName(metric),
  ]),
]);

describe('alerts', () => {
  test.each(alertDeclarations)(
    '$name asks for series that exist, and has a runbook',
    ({ expression, runbook }) => {
      const named = expression.match(/\b(?:up|[a-z0-9]+(?:_[a-z0-9]+){2,})\b/g) ?? [];
      const labels = new Set([
        'http_response_status_code',
        'http_request_method',
        'min_over_time',
        'histogram_quantile',
      ]);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !series.has(name) && !labels.has(name))).toEqual([]);
      expect(existsSync(join(checkout, runbook))).toBe(true);
    },
  );
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
