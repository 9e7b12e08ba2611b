// Scoring's domain: an OU's configuration and levels, and why a lead has its score. Pure; scoring, share and notification fold
// their own copies with it.
export * from './condition-rules.js';
export * from './configuration-events.js';
export * from './configuration.js';
export * from './contributions.js';
export * from './explanation.js';
export * from './grid.js';
export * from './level-crossing.js';
export * from './filter-label.js';
export * from './filters/evaluate.js';
export * from './filters/label.js';
export * from './filters/references.js';
export * from './filters/resolve.js';
export * from './filters/saved-filter.js';
export * from './level-history.js';
export * from './levels.js';
export * from './limits.js';
export * from './moments.js';
export * from './packed-configuration.js';
export * from './profile-configuration.js';
export * from './profile-explanation.js';
export * from './profile-values.js';
export * from './score-decision.js';
export * from './score-range.js';
export * from './rule-words.js';
export * from './scored-points.js';
