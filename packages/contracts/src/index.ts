// The contracts of the system: every route, command and event, declared once.
export * from './common.js';
export * from './vocabulary/accounts.js';
export * from './vocabulary/actor.js';
export * from './vocabulary/attribution.js';
export * from './vocabulary/committee.js';
export * from './vocabulary/credential-secrets.js';
export * from './vocabulary/csv-line.js';
export * from './vocabulary/decay.js';
export * from './vocabulary/deals.js';
export * from './vocabulary/distinct-values.js';
export * from './vocabulary/event-types.js';
export type { AttributeFilterForm } from './vocabulary/filter-forms.js';
export * from './vocabulary/filters.js';
export { gridCells, type Grid, type GridCell, type GridDigit, type GridLetter } from './vocabulary/grid.js';
export * from './vocabulary/identity.js';
export * from './vocabulary/json.js';
export * from './vocabulary/lead-fields.js';
export * from './vocabulary/lead-filters.js';
export * from './vocabulary/lead-imports.js';
export * from './vocabulary/lead-metadata.js';
export { isTimeZone, epochMsIn, type DayOrMoment } from './vocabulary/local-time.js';
export * from './vocabulary/metadata.js';
export * from './vocabulary/nearest-name.js';
export * from './vocabulary/position.js';
export * from './vocabulary/profile.js';
export * from './vocabulary/score-range.js';
export * from './vocabulary/share-tokens.js';
export * from './vocabulary/shown-url.js';
export * from './vocabulary/signing-context.js';
export * from './vocabulary/site-analysis.js';
export * from './vocabulary/score-types.js';
export * from './vocabulary/spreadsheet-text.js';
export * from './vocabulary/time-spans.js';
export {
  usageCellsIn,
  usageDaysOf,
  usagePeriodsOf,
  usagePlaceOf,
  usageTimeOf,
  type UsageTime,
} from './vocabulary/usage-periods.js';
export * from './vocabulary/webhook.js';
export * from './documents/asyncapi.js';
export { incompatibilities } from './documents/compatibility.js';
export { brokenPromises, publicRecords, type ReleasedRecords } from './documents/consumer-promise.js';
export { jsonSchemaOf, type JsonSchema } from './documents/json-schemas.js';
export * from './documents/openapi.js';
export * from './documents/page.js';
export * from './intake/chunks.js';
export * from './intake/column-names.js';
export * from './intake/sent-time.js';
export { eventsOfCsvRows, rowReaderOf, type RowReader } from './intake/csv-events.js';
export {
  eventsOfJson,
  eventsOfNdjson,
  eventsWithinLimit,
  unreadableBatch,
  type SentEvent,
  type UnreadableBatch,
} from './intake/sent-events.js';
export * from './intake/validate.js';
export * as records from './records/declarations.js';
export * from './records/acls.js';
export {
  auditedRecords,
  auditedServices,
  auditOf,
  type AuditedEvent,
  type AuditedService,
  type AuditedType,
  type ChangeAction,
  type ChangeKind,
} from './records/audited.js';
export * from './records/index.js';
export * from './records/job-id.js';
export * from './records/record.js';
export * from './records/topics.js';
export * as routeDeclarations from './routes/declarations.js';
export * from './rejections.js';
export * from './routes/index.js';
export * from './routes/route-problems.js';
export * from './routes/route.js';
export * from './documents/chart.js';
export * from './documents/dashboards.js';
export * from './documents/operations.js';
export * from './settings/alerts.js';
export * from './settings/dashboards.js';
export * from './settings/exit-codes.js';
export * from './settings/metrics.js';
export * from './settings/reason.js';
export * from './settings/server-access.js';
export * from './settings/socket-faults.js';
