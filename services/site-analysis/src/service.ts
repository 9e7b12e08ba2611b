// The site-analysis service's table of contents: its capabilities, their dependencies and collections.
import { capabilitiesOf } from '@lead-scoring/capability';
import { siteAnalyses, type SiteAnalysesDependencies } from './analyses/capability.js';
import { analysisStorage } from './analyses/documents.js';

export const siteAnalysisCollections = analysisStorage.collections;

export const siteAnalysisService = (dependencies: SiteAnalysesDependencies) =>
  capabilitiesOf('site-analysis', [siteAnalyses(dependencies)]);
