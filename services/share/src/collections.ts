// Everything that the share service stores.
import { configurations, decisions, sharedLeads } from './explanation/model.js';
import { shares } from './links/model.js';
import { rebuilds } from './rebuilds.js';

export const shareCollections = [shares, sharedLeads, decisions, configurations, rebuilds];
