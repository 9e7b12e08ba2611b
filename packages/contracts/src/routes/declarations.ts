// Schemas of requests and answers by name: `answers.Lead`, `answers.intakeLimits`.
export * from './administration.js';
export * from './deliveries.js';
export * from './description.js';
export * from './events.js';
export * from './intake.js';
export * from './internal.js';
export * from './jobs.js';
export * from './leads.js';
export * from './milestone-triggers.js';
export * from './notification-channels.js';
export * from './profile-rules.js';
export * from './profile-scoring.js';
export * from './scoring-configuration.js';
export * from './sequences.js';
export * from './shares.js';
export * from './site-analysis.js';
export * from './surge-triggers.js';
export { maximumTriggers } from './trigger-fields.js';
