// The pages for operators that are made from declarations: settings, metrics and alerts; and Prometheus' file of alerts.
import type { z } from 'zod';
import type { AlertDeclaration } from '../settings/alerts.js';
import { prometheusName, type MetricDeclaration } from '../settings/metrics.js';

/** The settings of one process, as it declares them. */
export interface ProcessSettings {
  process: string;
  /** The variables by name. Each schema has a description. */
  shape: Readonly<Record<string, z.ZodType>>;
}

const madeFrom = (source: string) =>
  `<!-- Made from ${source} by \`npm run refresh-operations-pages\`: change the declarations, not this page. -->`;

/** docs/settings.md: each setting once, with the processes that have it. */
export function settingsPage(
  processes: readonly ProcessSettings[],
  others: readonly { title: string; settings: readonly (readonly [variable: string, meaning: string])[] }[],
): string {
  const everywhere = new Set(
    Object.keys(processes[0]?.shape ?? {}).filter((variable) =>
      processes.every(({ shape }) => variable in shape),
    ),
  );
  const tables = [
    {
      title: 'Of every service',
      shape: processes[0]?.shape ?? {},
      only: (name: string) => everywhere.has(name),
    },
    ...processes.map(({ process, shape }) => ({
      title: `Of ${process}`,
      shape,
      only: (name: string) => !everywhere.has(name),
    })),
  ];
  return [
    madeFrom("the services' configurations"),
    '',
    '# Settings',
    '',
    'A setting is an environment variable. An empty one counts as not set. A process checks its settings before it starts, reports each wrong one, and exits with 78.',
    '`npm start` passes settings on to the services and sets the required ones itself; docker-compose.yml has a line for each that it sets.',
    'Secrets are never logged.',
    ...tables.flatMap(({ title, shape, only }) => settingsTable(title, shape, only)),
    ...others.flatMap(({ title, settings }) => [
      '',
      `## ${title}`,
      '',
      '| setting | meaning |',
      '| --- | --- |',
      ...settings.map(([variable, meaning]) => `| \`${variable}\` | ${cell(meaning)} |`),
    ]),
    '',
  ].join('\n');
}

function settingsTable(
  title: string,
  shape: ProcessSettings['shape'],
  only: (name: string) => boolean,
): string[] {
  const rows = Object.entries(shape).filter(([name]) => only(name));
  if (rows.length === 0) return [];
  return [
    '',
    `## ${title}`,
    '',
    '| setting | meaning | default | value |',
    '| --- | --- | --- | --- |',
    ...rows.map(([name, schema]) => {
      const columns = [`\`${name}\``, schema.description ?? '', defaultOf(schema), allowedBy(schema)];
      return `| ${columns.map(cell).join(' | ')} |`;
    }),
  ];
}

/** The default in words: a value, `none` of an optional setting, or that the setting is required. */
export function defaultOf(schema: z.ZodType): string {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return '**required**';
  const { data } = parsed;
  if (data === undefined || (Array.isArray(data) && data.length === 0)) return 'none';
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `\`${Array.isArray(data) ? data.join(',') : text}\``;
}

/** Texts that no setting with limits allows: the message about one names the allowed values. */
const wrongTexts = ['', '\n', ' '];

/** The allowed values in words: the message that a process gives about a wrong one. */
export function allowedBy(schema: z.ZodType): string {
  for (const text of wrongTexts) {
    const { error } = schema.safeParse(text);
    const message = error?.issues[0]?.message;
    if (message?.startsWith('must be ') === true) return message.slice('must be '.length);
    if (message?.startsWith('must ') === true) return message;
  }
  return 'see the meaning';
}

/** docs/metrics.md. */
export function metricsPage(
  own: readonly MetricDeclaration[],
  instrumented: readonly MetricDeclaration[],
): string {
  return [
    madeFrom('packages/contracts/src/settings/metrics.ts'),
    '',
    '# Metrics',
    '',
    'Each process answers `GET /metrics` for Prometheus: a service at its query port (`PORT`), the gateway at `INTERNAL_PORT`, apart from the public port. `.run/start.json` of `npm start` has the',
    'address of each (`metrics_url`); in docker-compose.yml it is port 8080 of a service and 9464 of the gateway. [Alerts](alerts.md) come from them.',
    '',
    'Names are as Prometheus stores them. A histogram has `_bucket`, `_count` and `_sum` behind its name. Times are in seconds, sizes in bytes.',
    ...metricsTable('Of the system', own),
    ...metricsTable("Of OpenTelemetry's instrumentations", instrumented),
    '',
  ].join('\n');
}

const units = { s: 'seconds', By: 'bytes', '1': '' } as const;

function metricsTable(title: string, metrics: readonly MetricDeclaration[]): string[] {
  return [
    '',
    `## ${title}`,
    '',
    '| metric | kind, unit | meaning | labels | of |',
    '| --- | --- | --- | --- | --- |',
    ...metrics.map((metric) => {
      const { kind, unit, meaning, labels, of } = metric;
      const labelled = Object.entries(labels).map(([name, values]) => `\`${name}\`: ${values}`);
      const columns = [
        `\`${prometheusName(metric)}\``,
        [kind, units[unit]].filter((word) => word !== '').join(', '),
        meaning,
        labelled.join('; '),
        of,
      ];
      return `| ${columns.map(cell).join(' | ')} |`;
    }),
  ];
}

/** docs/alerts.md. */
export function alertsPage(alerts: readonly AlertDeclaration[]): string {
  return [
    madeFrom('packages/contracts/src/settings/alerts.ts'),
    '',
    '# Alerts',
    '',
    '[deploy/alerts.yaml](../deploy/alerts.yaml) is this page as a file of rules for Prometheus (`rule_files`). The job that scrapes the processes is named `lead-scoring`.',
    '`page`: somebody acts now. `ticket`: somebody acts in working hours. The numbers suit a system of medium size: change them where yours differs.',
    ...alerts.flatMap(({ name, expression, after, severity, meaning, runbook }) => [
      '',
      `## ${name}`,
      '',
      `${meaning} What to do: [${runbook}](${runbook.replace(/^docs\//, '')}).`,
      '',
      '```promql',
      expression,
      '```',
      '',
      `${severity}${after === '0m' ? ', at once' : `, after ${after}`}`,
    ]),
    '',
  ].join('\n');
}

/** deploy/alerts.yaml: rules of Prometheus. Each text is in double quotes, as JSON writes it, which YAML reads. */
export function alertRules(alerts: readonly AlertDeclaration[]): string {
  return [
    '# Rules of Prometheus: docs/alerts.md says what each means. Made from packages/contracts/src/settings/alerts.ts by',
    '# `npm run refresh-operations-pages`: change the declarations, not this file.',
    'groups:',
    '  - name: lead-scoring',
    '    rules:',
    ...alerts.flatMap(({ name, expression, after, severity, summary, meaning, runbook }) => [
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(expression)}`,
      `        for: ${after}`,
      `        labels: { severity: ${severity} }`,
      '        annotations:',
      `          summary: ${JSON.stringify(summary)}`,
      `          description: ${JSON.stringify(meaning)}`,
      `          runbook: ${runbook}`,
    ]),
    '',
  ].join('\n');
}

/** Text in a cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
