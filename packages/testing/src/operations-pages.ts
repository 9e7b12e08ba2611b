// The files for operators that are made from declarations, by their path in the checkout.
import {
  alertDeclarations,
  alertRules,
  alertsPage,
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
  return {
    'docs/settings.md': settingsPage(await processSettings(checkout, from), others),
    'docs/metrics.md': metricsPage(Object.values(metricDeclarations), instrumentedMetrics),
    'docs/alerts.md': alertsPage(alertDeclarations),
    'deploy/alerts.yaml': alertRules(alertDeclarations),
  };
}
