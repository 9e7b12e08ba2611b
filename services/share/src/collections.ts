// Everything that the share service stores.
import { explanationCollections } from '@lead-scoring/explanations';
import { shares } from './links/documents.js';
import { rebuilds } from './rebuilds.js';

export const shareCollections = [shares, ...explanationCollections, rebuilds];
