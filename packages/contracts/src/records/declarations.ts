// The record declarations by name: `records.leadScored`, `records.LeadScored`.
export * from './configuration-file.js';
export * from './decays.js';
export * from './filters.js';
export * from './gateway.js';
export * from './ingest.js';
export * from './jobs.js';
export * from './lead-levels.js';
export * from './notification.js';
export * from './profile-levels.js';
export * from './profile-scoring.js';
export * from './rule-limits.js';
export * from './score-adjusted.js';
export * from './scoring.js';
export * from './share.js';
export * from './site-analysis.js';
export * from './system.js';
export * from './rules.js';
