// Every metric that the processes record themselves, declared once: instruments are made from it, and docs/metrics.md.

export interface MetricDeclaration {
  /** The name at the OpenTelemetry API. */
  name: string;
  kind: 'counter' | 'gauge' | 'histogram';
  /** UCUM: `s`, `By`; `1` for a count. */
  unit: 's' | 'By' | '1';
  meaning: string;
  /** By name, with their values. */
  labels: Readonly<Record<string, string>>;
  /** The processes that have it. */
  of: string;
}

const everyProcess = 'every process';
const everyService = 'every service';
const readers = 'every service, and a Kafka source';
const source = 'a Kafka source';

const service = 'the processor of the service, by its name, or one of its projectors';
const topic = 'the topic that is read, without the namespace';
const partition = 'the partition';
const sourceName = 'the name of the source';
const channel = 'the type of the channel: webhook, slack, teams, email';

export const metricDeclarations = {
  records: {
    name: 'event_log_records',
    kind: 'counter',
    unit: '1',
    meaning: 'Records processed.',
    labels: { service, topic },
    of: readers,
  },
  decidedRecords: {
    name: 'event_log_decided_records',
    kind: 'counter',
    unit: '1',
    meaning: 'Events that a service has decided and written to its topic, by the type of the record.',
    labels: {
      service: 'the service',
      type: 'the type of the record, as the AsyncAPI document lists it. The types that producers give their events are not a label, because their number has no bound: GET /event-types counts them',
    },
    of: everyService,
  },
  deadLetters: {
    name: 'event_log_dead_letters',
    kind: 'counter',
    unit: '1',
    meaning: 'Records written to the dead-letter topic.',
    labels: { service, topic },
    of: readers,
  },
  restarts: {
    name: 'event_log_restarts',
    kind: 'counter',
    unit: '1',
    meaning: 'Partition sessions that failed and were opened again.',
    labels: { service },
    of: readers,
  },
  lostRecords: {
    name: 'event_log_lost_records',
    kind: 'counter',
    unit: '1',
    meaning: 'Records that retention deleted before they were read.',
    labels: { service, topic },
    of: readers,
  },
  batchDuration: {
    name: 'event_log_batch_duration_seconds',
    kind: 'histogram',
    unit: 's',
    meaning: 'Duration of a batch, from decoding to its replies.',
    labels: { service, topic },
    of: readers,
  },
  stageDuration: {
    name: 'event_log_stage_duration_seconds',
    kind: 'histogram',
    unit: 's',
    meaning: 'Duration of one stage of a batch.',
    labels: {
      service,
      stage:
        'wait (fetched records wait for a round), decide (with decoding and encoding), commit (the transaction), fold (own events into the state), store (the state and its checkpoint, concurrently with later batches)',
    },
    of: readers,
  },
  lag: {
    name: 'event_log_lag_records',
    kind: 'gauge',
    unit: '1',
    meaning: 'Unread records of the partitions that this process owns.',
    labels: { service, topic, partition },
    of: readers,
  },
  sentEvents: {
    name: 'gateway_events',
    kind: 'counter',
    unit: '1',
    meaning:
      'Events that producers have sent to `POST /ingest` and to the Segment routes, by outcome. Bodies that could not be read as events are answers of `http_server_request_duration` only.',
    labels: {
      outcome:
        'accepted, invalid (with the valid ones of a request that was refused because of others), over_quota, or not_written (the log did not take them in time)',
    },
    of: 'the gateway',
  },
  deliveryAttempts: {
    name: 'notification_attempts',
    kind: 'counter',
    unit: '1',
    meaning: 'Attempts to deliver a notification.',
    labels: {
      channel,
      outcome: 'delivered or failed',
      attempt: 'first, or repeat: an earlier attempt of the same notification has failed',
    },
    of: 'notification',
  },
  attemptDuration: {
    name: 'notification_attempt_duration_seconds',
    kind: 'histogram',
    unit: 's',
    meaning: 'Duration of an attempt to deliver, until the destination has answered.',
    labels: { channel },
    of: 'notification',
  },
  sourceRecords: {
    name: 'topic_source_records',
    kind: 'counter',
    unit: '1',
    meaning: 'Records of a source topic, by outcome.',
    labels: { source: sourceName, outcome: 'taken, dead_letter, or empty (a record without a value)' },
    of: source,
  },
  sourceLostRecords: {
    name: 'topic_source_lost_records',
    kind: 'counter',
    unit: '1',
    meaning: 'Records of a source topic that its retention deleted before they were read.',
    labels: { source: sourceName },
    of: source,
  },
  sourceLag: {
    name: 'topic_source_lag_records',
    kind: 'gauge',
    unit: '1',
    meaning: 'Unread records of the source partitions that this process reads.',
    labels: { source: sourceName, partition },
    of: source,
  },
  residentMemory: {
    name: 'process.memory.usage',
    kind: 'gauge',
    unit: 'By',
    meaning: 'Resident memory.',
    labels: {},
    of: everyProcess,
  },
  heapUsed: {
    name: 'v8js.memory.heap.used',
    kind: 'gauge',
    unit: 'By',
    meaning: 'Heap in use.',
    labels: {},
    of: everyProcess,
  },
  eventLoopDelay: {
    name: 'nodejs.eventloop.delay.p99',
    kind: 'gauge',
    unit: 's',
    meaning: 'Delay of the event loop since the last reading, 99th percentile.',
    labels: {},
    of: everyProcess,
  },
  processorTime: {
    name: 'process.cpu.time',
    kind: 'counter',
    unit: 's',
    meaning: 'Processor time used.',
    labels: {},
    of: everyProcess,
  },
} as const satisfies Record<string, MetricDeclaration>;

/** Metrics that OpenTelemetry's instrumentations record, as docs/metrics.md describes them. */
export const instrumentedMetrics: readonly MetricDeclaration[] = [
  {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    meaning: 'Duration of HTTP requests that the process has answered, from the first byte to the last.',
    labels: {
      http_route: 'the route as it is declared, such as /leads/{id}; none where no route has the path',
      http_request_method: 'the method',
      http_response_status_code: 'the status',
    },
    of: everyProcess,
  },
  {
    name: 'http.client.request.duration',
    kind: 'histogram',
    unit: 's',
    meaning:
      'Duration of HTTP requests that the process has sent, to other services and the schema registry.',
    labels: {
      server_address: 'the host',
      server_port: 'the port',
      http_response_status_code: 'the status',
      error_type: 'the error, where there was one',
    },
    of: everyProcess,
  },
];

/** The name in the answer of /metrics, as Prometheus stores it; a histogram has `_bucket`, `_count` and `_sum` behind it. */
export function prometheusName({ name, kind }: Pick<MetricDeclaration, 'name' | 'kind'>): string {
  const words = name.replaceAll('.', '_');
  return kind === 'counter' ? `${words}_total` : words;
}

/** The series of a metric, by the names that a query can use. */
export function seriesOf(metric: Pick<MetricDeclaration, 'name' | 'kind'>): string[] {
  const name = prometheusName(metric);
  return metric.kind === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name];
}
