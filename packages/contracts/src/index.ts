// The contracts of the system: every route, command and event, declared once.
export * from './common.js';
export * from './domain/credential-secrets.js';
export * from './domain/event-types.js';
export * from './domain/filters.js';
export * from './domain/identity.js';
export * from './domain/json.js';
export * from './domain/lead-fields.js';
export * from './domain/metadata.js';
export * from './intake/sent-time.js';
export * from './intake/validate.js';
export * as records from './records/declarations.js';
export * from './records/index.js';
export * from './records/record.js';
export * from './records/topics.js';
export * as routeDeclarations from './routes/declarations.js';
export * from './routes/index.js';
export * from './routes/route.js';
