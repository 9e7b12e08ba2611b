// What every service process needs around its own logic: configuration, logs, HTTP, health, start and stop.
export { askService, type AskedService } from './ask-service.js';
export {
  decodeUtf8,
  parseJson,
  hasBody,
  readBody,
  readJson,
  leastUploadRate,
  type Body,
  type BodyOptions,
  type JsonOptions,
  type LeastRate,
} from './body.js';
export { readBodyParts, type BodyParts, type BodyPartsOptions } from './body-parts.js';
export { csvFormOf, type FoundCsvForm } from './csv-form.js';
export { csvRecords, maximumCsvRow, rowTooLong, type CsvForm, type CsvRecord } from './csv-records.js';
export { onceClosed } from './closed-response.js';
export {
  defineComponent,
  startInOrder,
  type Component,
  type ComponentScope,
  type Started,
} from './component.js';
export {
  commonConfiguration,
  ConfigurationError,
  loadConfiguration,
  parseConfiguration,
  setting,
  type CommonConfiguration,
} from './configuration.js';
export {
  livenessHandler,
  createStaying,
  readinessHandler,
  readinessOf,
  readyWhen,
  serviceHealthChecks,
  type HealthCheck,
  type Readiness,
} from './health.js';
export { createHttpServer, type HttpServerOptions, type ListeningServer } from './http-server.js';
export {
  assertSignedBody,
  internalAuthorizationHeader,
  signInternal,
  verifyInternal,
  type InternalClaims,
} from './internal-authentication.js';
export { depthExceededAt, syntaxErrorAt } from './json-text.js';
export { createLogger, type Logger, type LoggerOptions } from './logger.js';
export { metricsHandler } from './metrics.js';
export { pause } from './pause.js';
export {
  formatPositions,
  minimumPositionsHeader,
  parsePositions,
  positionNotReached,
  type PartitionPosition,
} from './positions.js';
export {
  asProblem,
  problem,
  problemBody,
  ProblemError,
  problemHandler,
  requestIdOf,
  sendProblem,
  wantsPage,
  type FieldError,
  type ProblemOptions,
} from './problems.js';
export {
  QueryPort,
  type QueryPortAnswer,
  type QueryPortOptions,
  type QueryPortRequest,
} from './query-port.js';
export {
  AnswerOfUnit,
  answerUnitHeader,
  mergedIntoHeader,
  bindInternalQuery,
  bindQuery,
  createQueryApplication,
  createQueryServer,
  RenderedAnswer,
  StreamedAnswer,
  VersionedAnswer,
  type BoundQuery,
  type QueryContext,
  type QueryInput,
  type QueryResult,
  type QueryRoute,
  type QueryServerOptions,
} from './query-server.js';
export {
  counterOf,
  durationOf,
  withinTraceOf,
  type Count,
  type Measure,
  type SpanAttributes,
} from './instruments.js';
export { checkPath, methodNotAllowed, nameRoute, notFound, parseQuery } from './routing.js';
export { begun, sendParts } from './send-parts.js';
export { createSealing, type Sealing, type SealStanding } from './sealing.js';
export { exchangeableSecret, secretsInForce, type SecretsInForce } from './secrets-in-force.js';
export { loggedPath } from './secret-paths.js';
export { telemetrySettings } from './telemetry-settings.js';
export { runService, type ProcessControl, type ServiceOptions, type ServiceScope } from './run-service.js';
export { parseOrErrors, parseOrProblem, type Part } from './validation.js';
