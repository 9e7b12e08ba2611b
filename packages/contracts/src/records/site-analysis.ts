// Commands and events of the site-analysis service: requested analyses of websites, and their results.
import { z } from 'zod';
import { id, name, time } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { siteAnalysis } from '../vocabulary/site-analysis.js';
import { defineRecord, type PayloadOf } from './record.js';

/** A website as a person writes it: `https://` may be left out. */
export const siteUrl = name(2_048).meta({ example: 'example.com' });

const analysis = { ou_id: id, analysis_id: id };
const failure = {
  code: z.string().max(64).describe('The code of the problem that the caller gets.'),
  message: z.string().max(4_000),
};

export const analyzeSite = defineRecord({
  type: 'AnalyzeSite',
  topic: 'site-analysis.commands',
  key: 'ou_id',
  description: 'Analyse a website. Replied to when the analysis has ended.',
  schema: z.strictObject({ ...analysis, url: siteUrl, ...requested }),
});
export type AnalyzeSite = PayloadOf<typeof analyzeSite>;

export const recordSiteAnalysis = defineRecord({
  type: 'RecordSiteAnalysis',
  topic: 'site-analysis.commands',
  key: 'ou_id',
  description: 'An analysis has ended: record how. Sent by the service to itself.',
  schema: z.strictObject({
    ...analysis,
    requested_at: time.describe(
      'Of the request that it answers: an interrupted analysis can be asked for again.',
    ),
    ended_at: time,
    outcome: z.discriminatedUnion('status', [
      z.strictObject({ status: z.literal('analyzed'), result: siteAnalysis }),
      z.strictObject({ status: z.literal('failed'), ...failure }),
    ]),
  }),
});
export type RecordSiteAnalysis = PayloadOf<typeof recordSiteAnalysis>;

export const siteAnalysisRequested = defineRecord({
  type: 'SiteAnalysisRequested',
  topic: 'site-analysis.events',
  key: 'ou_id',
  description:
    'A website is being analysed. The headers reply-to and correlation-id name the caller that waits for the result.',
  schema: z.strictObject({ ...analysis, url: siteUrl, ...requested }),
});
export type SiteAnalysisRequested = PayloadOf<typeof siteAnalysisRequested>;

export const siteAnalyzed = defineRecord({
  type: 'SiteAnalyzed',
  topic: 'site-analysis.events',
  key: 'ou_id',
  description: 'A website was analysed.',
  schema: z.strictObject({
    ...analysis,
    url: siteUrl,
    requested_at: time,
    at: time,
    result: siteAnalysis,
  }),
});
export type SiteAnalyzed = PayloadOf<typeof siteAnalyzed>;

export const siteAnalysisFailed = defineRecord({
  type: 'SiteAnalysisFailed',
  topic: 'site-analysis.events',
  key: 'ou_id',
  description: 'A website could not be analysed.',
  schema: z.strictObject({ ...analysis, url: siteUrl, requested_at: time, at: time, ...failure }),
});
export type SiteAnalysisFailed = PayloadOf<typeof siteAnalysisFailed>;

export const siteAnalysisRecords = [
  analyzeSite,
  recordSiteAnalysis,
  siteAnalysisRequested,
  siteAnalyzed,
  siteAnalysisFailed,
] as const;
