// Everything that the share service stores.
import { auditTrailCollections } from '@lead-scoring/capability';
import { accountExplanationCollections } from '@lead-scoring/explanations';
import { shares } from './links/documents.js';

export const shareCollections = [shares, ...accountExplanationCollections, ...auditTrailCollections];
