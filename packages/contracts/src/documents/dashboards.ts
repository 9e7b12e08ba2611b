// Grafana's files of dashboards.
import type { DashboardDeclaration, PanelDeclaration } from '../settings/dashboards.js';

/** Grafana's grid has 24 columns: two panels a row. */
const [panelWidth, panelHeight] = [12, 8];
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** The dashboard as JSON, for Grafana's import or a provisioned folder. Its source of data is chosen in the dashboard. */
export function grafanaDashboard({ name, title, meaning, panels }: DashboardDeclaration): string {
  const dashboard = {
    uid: `lead-scoring-${name}`,
    title,
    description: `${meaning} Made from packages/contracts/src/settings/dashboards.ts by \`npm run refresh-operations-pages\`.`,
    tags: ['lead-scoring'],
    schemaVersion: 39,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Source of data', type: 'datasource', query: 'prometheus' }],
    },
    panels: panels.map(grafanaPanel),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function grafanaPanel({ title, meaning, unit, queries }: PanelDeclaration, index: number): object {
  const gridPos = {
    x: (index % 2) * panelWidth,
    y: Math.floor(index / 2) * panelHeight,
    w: panelWidth,
    h: panelHeight,
  };
  const placed = { id: index + 1, title, gridPos };
  if (queries.length === 0)
    return { ...placed, type: 'text', options: { mode: 'markdown', content: meaning } };
  return {
    ...placed,
    type: 'timeseries',
    description: meaning,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expression, legend }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource,
      expr: expression,
      legendFormat: legend,
    })),
  };
}
