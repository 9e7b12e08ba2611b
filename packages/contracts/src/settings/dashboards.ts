// The dashboards of Grafana, declared once: the files in deploy/dashboards come from them. A test holds each query against the
// declared metrics, and another one runs it on a real Prometheus.

export interface PanelQuery {
  /** PromQL over the series of docs/metrics.md, and Prometheus' own `up`. */
  expression: string;
  /** The name of each line, with the labels of its series. */
  legend: string;
}

export interface PanelDeclaration {
  title: string;
  /** What an unusual value means, and where to look next. */
  meaning: string;
  /** A unit of Grafana: per second, a count, seconds, bytes; `none` for text. */
  unit: 'cps' | 'short' | 's' | 'bytes' | 'none';
  /** Empty for a panel that only shows its meaning. */
  queries: readonly PanelQuery[];
}

export interface DashboardDeclaration {
  /** The name of its file, and its durable id in Grafana. */
  name: string;
  title: string;
  /** Who reads it, and for which questions. */
  meaning: string;
  panels: readonly PanelDeclaration[];
}

const query = (expression: string, legend: string): PanelQuery => ({ expression, legend });

/** The routes that take events. */
const intake = '{http_route=~"/ingest|/v1/.*"}';

/** The p50 or p99 of a histogram's buckets, grouped by labels. */
const quantile = (part: number, buckets: string, by = '') =>
  `histogram_quantile(${String(part)}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${buckets}[5m])))`;

/** How many of these events a service has decided within an hour, by type. */
const decided = (service: string, types: string) =>
  `sum by (type) (increase(event_log_decided_records_total{service="${service}",type=~"${types}"}[1h]))`;

const producers: DashboardDeclaration = {
  name: 'producers',
  title: 'Lead scoring: producers',
  meaning: 'For those who send events: are they taken, how fast, and why not.',
  panels: [
    {
      title: 'Events accepted',
      meaning: 'The log has them: they will be scored, whatever ends meanwhile.',
      unit: 'cps',
      queries: [query('sum(rate(gateway_events_total{outcome="accepted"}[5m]))', 'accepted')],
    },
    {
      title: 'Events not accepted',
      meaning:
        'invalid: the answer names each event and its error. over_quota: GET /limits. not_written: the brokers did not take them in time; the producer sends them again.',
      unit: 'cps',
      queries: [
        query('sum by (outcome) (rate(gateway_events_total{outcome!="accepted"}[5m]))', '{{outcome}}'),
      ],
    },
    {
      title: 'Requests with events, by status',
      meaning: '429: a rate limit or a quota; 503: a server is away. Both have Retry-After.',
      unit: 'cps',
      queries: [
        query(
          `sum by (http_response_status_code) (rate(http_server_request_duration_count${intake}[5m]))`,
          '{{http_response_status_code}}',
        ),
      ],
    },
    {
      title: 'Duration of requests with events',
      meaning: 'Until the log has acknowledged every event of the request.',
      unit: 's',
      queries: [0.5, 0.99].map((part) =>
        query(quantile(part, `http_server_request_duration_bucket${intake}`), `p${String(part * 100)}`),
      ),
    },
    {
      title: 'Requests by route',
      meaning: 'The ten routes that are called most, of the gateway and of the query ports behind it.',
      unit: 'cps',
      queries: [
        query(
          'topk(10, sum by (instance, http_route, http_request_method) (rate(http_server_request_duration_count{http_route!=""}[5m])))',
          '{{instance}} {{http_request_method}} {{http_route}}',
        ),
      ],
    },
    {
      title: 'Slowest routes, p99',
      meaning: 'The ten slowest routes, of the gateway and of the query ports behind it.',
      unit: 's',
      queries: [
        query(
          `topk(10, ${quantile(0.99, 'http_server_request_duration_bucket{http_route!=""}', 'instance, http_route')})`,
          '{{instance}} {{http_route}}',
        ),
      ],
    },
    {
      title: 'Records of Kafka sources',
      meaning:
        'Of the topics that docs/sources.md connects. taken: events that the log has. dead_letter: no event could be made of the record, its dead letter says why. empty: a record without a value.',
      unit: 'cps',
      queries: [
        query('sum by (source, outcome) (rate(topic_source_records_total[5m]))', '{{source}} {{outcome}}'),
      ],
    },
    {
      title: 'Unread records of Kafka sources',
      meaning:
        'Rises while a source reads more slowly than its topic is written, or waits because ingest is behind.',
      unit: 'short',
      queries: [query('sum by (source) (topic_source_lag_records)', '{{source}}')],
    },
  ],
};

const operators: DashboardDeclaration = {
  name: 'operators',
  title: 'Lead scoring: operators',
  meaning:
    'For those who run the system: what is behind, what fails, and which resource is short. Runbooks: docs/runbooks.',
  panels: [
    {
      title: 'Processes that answer',
      meaning: '0: the process is gone, or keeps ending soon after its start.',
      unit: 'short',
      queries: [query('sum by (instance) (up{job="lead-scoring"})', '{{instance}}')],
    },
    {
      title: 'Lag',
      meaning:
        'Unread records. A lag that grows: the service is too slow, or a partition is halted (docs/runbooks/stuck-partition.md).',
      unit: 'short',
      queries: [query('sum by (service, topic) (event_log_lag_records)', '{{service}} of {{topic}}')],
    },
    {
      title: 'Records read',
      meaning: 'Nothing, beside a lag: a partition is halted or a server is away.',
      unit: 'cps',
      queries: [
        query('sum by (service, topic) (rate(event_log_records_total[5m]))', '{{service}} of {{topic}}'),
      ],
    },
    {
      title: 'Batches, p99 by stage',
      meaning:
        'wait: fetched records wait for a round. decide: computing. commit: Kafka. fold and store: memory and MongoDB.',
      unit: 's',
      queries: [
        query(
          quantile(0.99, 'event_log_stage_duration_seconds_bucket', 'service, stage'),
          '{{service}} {{stage}}',
        ),
      ],
    },
    {
      title: 'Time spent by stage',
      meaning:
        'Seconds a second, all partitions of a service together: the stage that limits the service has most.',
      unit: 's',
      queries: [
        query(
          'sum by (service, stage) (rate(event_log_stage_duration_seconds_sum[5m]))',
          '{{service}} {{stage}}',
        ),
      ],
    },
    {
      title: 'Retries of partitions, an hour',
      meaning:
        'Sessions that failed and were opened again: Kafka or MongoDB fails (docs/runbooks/stuck-partition.md).',
      unit: 'short',
      queries: [query('sum by (service) (increase(event_log_restarts_total[1h]))', '{{service}}')],
    },
    {
      title: 'Dead letters, an hour',
      meaning: 'Records that could not be processed (docs/runbooks/dead-letters.md).',
      unit: 'short',
      queries: [
        query(
          'sum by (service, topic) (increase(event_log_dead_letters_total[1h]))',
          '{{service}} of {{topic}}',
        ),
      ],
    },
    {
      title: 'Records lost, an hour',
      meaning: 'Retention deleted them before they were read (docs/runbooks/positions.md).',
      unit: 'short',
      queries: [
        query(
          'sum by (service, topic) (increase(event_log_lost_records_total[1h]))',
          '{{service}} of {{topic}}',
        ),
      ],
    },
    {
      title: 'Attempts to deliver',
      meaning: 'failed, and repeat: destinations that refuse or are slow (docs/runbooks/notifications.md).',
      unit: 'cps',
      queries: [
        query(
          'sum by (channel, outcome, attempt) (rate(notification_attempts_total[5m]))',
          '{{channel}} {{outcome}}, {{attempt}}',
        ),
      ],
    },
    {
      title: 'Duration of attempts to deliver, p99',
      meaning: 'How long destinations take to answer. An attempt ends after 15 s.',
      unit: 's',
      queries: [
        query(quantile(0.99, 'notification_attempt_duration_seconds_bucket', 'channel'), '{{channel}}'),
      ],
    },
    {
      title: 'Answers by status',
      meaning: 'Of the gateway and of the query ports. 5xx: a server or a service is away, or too slow.',
      unit: 'cps',
      queries: [
        query(
          'sum by (instance, http_response_status_code) (rate(http_server_request_duration_count[5m]))',
          '{{instance}} {{http_response_status_code}}',
        ),
      ],
    },
    {
      title: 'Requests between services, p99',
      meaning:
        'By the address asked: the slow service is behind it. The schema registry is asked at starts only.',
      unit: 's',
      queries: [
        query(
          quantile(0.99, 'http_client_request_duration_bucket', 'server_address, server_port'),
          '{{server_address}}:{{server_port}}',
        ),
      ],
    },
    {
      title: 'Delay of the event loop, p99',
      meaning:
        'Near a second: the process has more to compute than one processor can do (docs/runbooks/more-processes.md).',
      unit: 's',
      queries: [query('max by (instance) (nodejs_eventloop_delay_p99)', '{{instance}}')],
    },
    {
      title: 'Processors in use',
      meaning: 'A process uses one, and a little more for the garbage collector.',
      unit: 'short',
      queries: [query('sum by (instance) (rate(process_cpu_time_total[5m]))', '{{instance}}')],
    },
    {
      title: 'Memory',
      meaning: 'Resident memory, and the part of it that is the heap.',
      unit: 'bytes',
      queries: [
        query('sum by (instance) (process_memory_usage)', '{{instance}}'),
        query('sum by (instance) (v8js_memory_heap_used)', '{{instance}}, heap'),
      ],
    },
  ],
};

const business: DashboardDeclaration = {
  name: 'business',
  title: 'Lead scoring: business',
  meaning: 'For those who work with the leads: how much happens, and what comes of it.',
  panels: [
    {
      title: 'Events, an hour',
      meaning: 'Accepted from producers.',
      unit: 'short',
      queries: [query('sum(increase(gateway_events_total{outcome="accepted"}[1h]))', 'events')],
    },
    {
      title: 'Events by type',
      meaning:
        'Producers name the types of their events, so that their number has no bound and they are no label of a metric. GET /event-types counts the events of an organizational unit by type, and the page of each analysis shows the most frequent ones.',
      unit: 'none',
      queries: [],
    },
    {
      title: 'Scores, an hour',
      meaning: 'Decisions on scores: of leads, of accounts and of deals.',
      unit: 'short',
      queries: [query(decided('scoring', 'LeadScored|AccountScored|DealScored'), '{{type}}')],
    },
    {
      title: 'Changes of levels, an hour',
      meaning: 'Leads that have reached another level of engagement.',
      unit: 'short',
      queries: [query(decided('scoring', 'LeadLevelChanged'), '{{type}}')],
    },
    {
      title: 'Triggers fired, an hour',
      meaning: 'Milestones, sequences and surges of leads, and milestones of accounts.',
      unit: 'short',
      queries: [
        query(
          decided('notification', 'MilestoneFired|SequenceFired|SurgeFired|AccountMilestoneFired'),
          '{{type}}',
        ),
      ],
    },
    {
      title: 'Triggers held back, an hour',
      meaning: 'Within the cooldown of an earlier firing.',
      unit: 'short',
      queries: [query(decided('notification', 'TriggerSuppressed|AccountTriggerSuppressed'), '{{type}}')],
    },
    {
      title: 'Notifications delivered, an hour',
      meaning: 'By the type of the channel.',
      unit: 'short',
      queries: [
        query(
          'sum by (channel) (increase(notification_attempts_total{outcome="delivered"}[1h]))',
          '{{channel}}',
        ),
      ],
    },
    {
      title: 'Leads linked and deleted, an hour',
      meaning: 'Aliases that were linked to a lead, and leads that were deleted at a request.',
      unit: 'short',
      queries: [query(decided('ingest', 'AliasLinked|LeadDeleted'), '{{type}}')],
    },
  ],
};

export const dashboardDeclarations: readonly DashboardDeclaration[] = [producers, operators, business];
