// The result of a website's analysis: pages sorted by how near they are to a purchase, and the rules proposed for them.
import { z } from 'zod';
import { maximumFragments } from './filters.js';

/** SPEC.md's categories, ordered from highest to lowest intent. */
export const intentCategory = z
  .enum([
    'Very High Intent - Demo/Book',
    'High Intent - Contact',
    'High Intent - Pricing',
    'High Intent - Signup',
    'Mid-High Intent - Social Proof',
    'Mid Intent - Product',
    'Mid Intent - Solutions',
    'Mid Intent - Tools',
    'Mid Intent - Location Pages',
    'Mid Intent - Documentation',
    'Mid Intent - Research',
    'Low Intent - Partners',
    'Low Intent - Resources',
    'Low Intent - Content',
    'Neutral - Company Info',
    'Not a Buyer - Careers',
    'Not a Buyer - Legal',
  ])
  .meta({ id: 'IntentCategory' });
export type IntentCategory = z.infer<typeof intentCategory>;

/** Maximum number of pages in one analysis. `skipped_urls` counts the others. */
export const maximumAnalysedPages = 300;

const icon = z.string().min(1).max(50).describe('Name of a Lucide icon.').meta({ example: 'calendar-check' });
const points = z.int().min(-15).max(15);
const fragment = z.string().min(1).max(1_000).meta({ example: '/pricing' });

/** The pages of one category. */
export const siteCategory = z
  .strictObject({
    category: intentCategory,
    pattern: fragment.describe('URL fragment that identifies pages of this category: the best single one.'),
    urls: z
      .array(z.string().min(1).max(2_048))
      .min(1)
      .max(maximumAnalysedPages)
      .describe(
        'Page paths on the site that matched: all of the category, and just those that its rule scores.',
      ),
    suggested_weight: points.describe('Recommended points.'),
    icon,
  })
  .meta({ id: 'SiteCategory' });
export type SiteCategory = z.infer<typeof siteCategory>;

/** A proposed rule, in the form that POST /engagement-scoring/rules accepts. */
export const proposedRule = z
  .strictObject({
    event_type: z.literal('Page View'),
    weight: points.describe('Suggested points.'),
    label: intentCategory.describe('The category.'),
    icon,
    attribute_filters: z
      .array(
        z.strictObject({
          field: z.literal('path'),
          operator: z.literal('contains'),
          value: z
            .union([fragment, z.array(fragment).min(2).max(maximumFragments)])
            .describe(
              'The fragment; or, where one does not match just the urls of the category, any of a list.',
            ),
        }),
      )
      .min(1)
      .max(20),
  })
  .meta({ id: 'ProposedRule' });
export type ProposedRule = z.infer<typeof proposedRule>;

/** The fields of an analysis, in the API's answer and in the recorded event. */
export const siteAnalysisFields = {
  domain: z.string().min(1).max(255).describe('Root domain analysed.').meta({ example: 'example.com' }),
  fetched_url: z
    .string()
    .min(1)
    .max(4_096)
    .describe('Normalized URL that was fetched.')
    .meta({ example: 'https://example.com/' }),
  page_count: z.int().min(0).describe('Unique pages discovered.'),
  skipped_urls: z.int().min(0).describe('URLs found but not analysed because of the 300-page cap.'),
  source: z
    .enum(['sitemap', 'crawl', 'crawl+depth'])
    .describe('sitemap; crawl: the homepage sufficed; crawl+depth: pages that it links to were read too.'),
  categories: z.array(siteCategory).max(intentCategory.options.length).describe('Highest intent first.'),
  proposed_rules: z
    .array(proposedRule)
    .max(intentCategory.options.length)
    .describe('One for each category found; POST /engagement-scoring/rules takes each as it is.'),
};

/** SPEC.md's result of POST /site-scoring/analyze. */
export const siteAnalysis = z.strictObject(siteAnalysisFields).meta({ id: 'SiteAnalysis' });
export type SiteAnalysis = z.infer<typeof siteAnalysis>;
