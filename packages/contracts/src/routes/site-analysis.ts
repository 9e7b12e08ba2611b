// Analyses of websites.
import { z } from 'zod';
import { cursorParameter, id, page, pageParameters, time } from '../common.js';
import { siteAnalysis as result, siteAnalysisFields } from '../vocabulary/site-analysis.js';
import { siteUrl } from '../records/site-analysis.js';
import { defineRoute, editor, viewer } from './route.js';

const tag = 'Site analysis';

export const analyzeSite = defineRoute({
  name: 'analyzeSite',
  method: 'POST',
  path: '/site-scoring/analyze',
  owner: 'site-analysis',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Analyse a website and propose rules',
  description:
    'Reads the sitemap, or else the homepage and what its navigation links to, and sorts the pages by how near they are to a purchase. The urls of a category are all its pages, and those that the filter of its rule matches: a path that contains the whole path of a page of another category (`/blog/pricing-tips` beside `/pricing`) is in both. Takes at most 15 seconds: what was found by then is the answer. https:// is added when no scheme is given. Public addresses only, on ports 80 and 443. 502 when the site could not be read; `code` says why.',
  body: z
    .strictObject({ url: siteUrl.describe('The website; https:// may be left out.') })
    .meta({ id: 'SiteToAnalyze' }),
  responses: { 200: { description: 'What was found', schema: result } },
  problems: [
    'invalid_url',
    'scheme_not_allowed',
    'credentials_in_url',
    'port_not_allowed',
    'address_not_public',
    'site_unreachable',
    'site_name_not_found',
    'site_timeout',
    'site_tls_failed',
    'site_login_required',
    'site_blocked',
    'site_not_html',
    'site_error',
    'too_many_analyses',
    'analysis_interrupted',
  ],
  // 15 seconds for the analysis, and time for another process to take over from an owner that died during it.
  replyTimeoutMs: 25_000,
});

export const siteAnalysisEntry = z
  .strictObject({
    id,
    url: z.string().max(2_048).describe('As it was asked for.'),
    requested_at: time,
    analyzed_at: time,
    ...siteAnalysisFields,
  })
  .meta({ id: 'SiteAnalysisEntry' });
export type SiteAnalysisEntry = z.infer<typeof siteAnalysisEntry>;

export const listSiteAnalyses = defineRoute({
  name: 'listSiteAnalyses',
  method: 'GET',
  path: '/site-scoring/analyses',
  owner: 'site-analysis',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Analyses of websites, newest first',
  query: z.strictObject({ ...pageParameters, cursor: cursorParameter }),
  responses: { 200: { description: 'Analyses', schema: page(siteAnalysisEntry) } },
  problems: [],
});
