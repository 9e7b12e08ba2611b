// Everything that the share service stores.
import { explanationCollections } from '@lead-scoring/explanations';
import { shares } from './links/documents.js';

export const shareCollections = [shares, ...explanationCollections];
