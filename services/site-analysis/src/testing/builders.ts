// Builders of commands and results for tests, with fixed values that a test may replace.
import { nameBasedId, type records, type SiteAnalysis } from '@lead-scoring/contracts';

export const ouId = '11111111-1111-4111-8111-111111111111';
export const otherOuId = '22222222-2222-4222-8222-222222222222';
export const at = '2026-01-01T12:00:00.000Z';
export const later = '2026-01-01T12:00:05.000Z';

/** A stable id for a short name. */
export const idOf = (name: string): string => nameBasedId(ouId, `test:${name}`);

export const analyzeSite = (name: string, more: Partial<records.AnalyzeSite> = {}): records.AnalyzeSite => ({
  ou_id: ouId,
  analysis_id: idOf(name),
  url: `${name}.example.com`,
  requested_at: at,
  ...more,
});

export const recordEnd = (
  name: string,
  outcome: records.RecordSiteAnalysis['outcome'],
  more: Partial<records.RecordSiteAnalysis> = {},
): records.RecordSiteAnalysis => ({
  ou_id: ouId,
  analysis_id: idOf(name),
  requested_at: at,
  ended_at: later,
  outcome,
  ...more,
});

export const analyzed = (name: string): SiteAnalysis => ({
  domain: `${name}.example.com`,
  fetched_url: `https://${name}.example.com/`,
  page_count: 2,
  skipped_urls: 0,
  source: 'sitemap',
  categories: [
    {
      category: 'High Intent - Pricing',
      pattern: '/pricing',
      urls: ['/pricing'],
      suggested_weight: 10,
      icon: 'badge-dollar-sign',
    },
  ],
  proposed_rules: [
    {
      event_type: 'Page View',
      weight: 10,
      label: 'High Intent - Pricing',
      icon: 'badge-dollar-sign',
      attribute_filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
    },
  ],
});

export const unreachable = { code: 'site_unreachable', message: 'The site does not answer.' } as const;
