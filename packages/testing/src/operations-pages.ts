// The files for operators that are made from declarations, by their path in the checkout.
import {
  alertDeclarations,
  alertRules,
  alertsPage,
  chartSettings,
  chartValuesSchema,
  dashboardDeclarations,
  grafanaDashboard,
  instrumentedMetrics,
  metricDeclarations,
  metricsPage,
  settingsPage,
} from '@lead-scoring/contracts';
import { telemetrySettings } from '@lead-scoring/service';
import { startSettings } from '@lead-scoring/start';
import { processSettings } from './process-settings.js';

/** @param from see `processSettings` */
export async function operationsPages(
  checkout: string,
  from: 'sources' | 'builds',
): Promise<Record<string, string>> {
  const others = [
    { title: 'Of OpenTelemetry, in every process', settings: Object.entries(telemetrySettings) },
    { title: 'Of `npm start`', settings: Object.entries(startSettings) },
  ];
  const processes = await processSettings(checkout, from);
  return {
    'docs/settings.md': settingsPage(processes, others),
    'deploy/helm/files/settings.json': chartSettings(processes),
    'deploy/helm/values.schema.json': chartValuesSchema(processes),
    'docs/metrics.md': metricsPage(Object.values(metricDeclarations), instrumentedMetrics),
    'docs/alerts.md': alertsPage(alertDeclarations),
    'deploy/alerts.yaml': alertRules(alertDeclarations),
    ...Object.fromEntries(
      dashboardDeclarations.map((dashboard) => [
        `deploy/dashboards/${dashboard.name}.json`,
        grafanaDashboard(dashboard),
      ]),
    ),
  };
}
