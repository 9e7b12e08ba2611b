// The alerts that an operator needs, declared once: deploy/alerts.yaml for Prometheus and docs/alerts.md come from it.

export interface AlertDeclaration {
  name: string;
  /** PromQL over the series of docs/metrics.md, and Prometheus' own `up`. */
  expression: string;
  /** How long the expression holds before somebody is told. */
  after: string;
  /** `page`: somebody acts now. `ticket`: somebody acts in working hours. */
  severity: 'page' | 'ticket';
  /** A sentence on the state that the alert reports, with the labels of the series. */
  summary: string;
  /** The effect on users, and the usual cause. */
  meaning: string;
  /** The page that says what to do, from the root of the repository. */
  runbook: string;
}

const runbook = (name: string) => `docs/runbooks/${name}.md`;

export const alertDeclarations: readonly AlertDeclaration[] = [
  {
    name: 'ProcessDown',
    expression: 'up{job="lead-scoring"} == 0',
    after: '2m',
    severity: 'page',
    summary: '{{ $labels.instance }} does not answer for its metrics',
    meaning:
      'A process is gone, or keeps ending soon after its start. Its partitions go to other processes of the service, if there are any; otherwise they wait, and nothing is lost.',
    runbook: runbook('stuck-partition'),
  },
  {
    name: 'PartitionBehind',
    expression: 'min_over_time(event_log_lag_records[10m]) > 1000',
    after: '5m',
    severity: 'page',
    summary:
      '{{ $labels.service }} is {{ $value }} records behind in {{ $labels.topic }}, partition {{ $labels.partition }}',
    meaning:
      'Accepted events are not scored, shown or sent for minutes: the service is too slow for what comes in, or one of its batches is retried.',
    runbook: runbook('stuck-partition'),
  },
  {
    name: 'PartitionStopped',
    expression:
      'sum by (service, topic) (event_log_lag_records) > 0 and sum by (service, topic) (rate(event_log_records_total[10m])) == 0',
    after: '5m',
    severity: 'page',
    summary: '{{ $labels.service }} has unread records in {{ $labels.topic }} and processes none',
    meaning: 'A partition is halted until an operator acts, or a server that the service needs is away.',
    runbook: runbook('stuck-partition'),
  },
  {
    name: 'PartitionSessionsFail',
    expression: 'increase(event_log_restarts_total[15m]) > 5',
    after: '0m',
    severity: 'ticket',
    summary: 'partitions of {{ $labels.service }} were opened again {{ $value }} times in 15 minutes',
    meaning: 'Kafka or MongoDB fails again and again; each time, the work on a partition begins anew.',
    runbook: runbook('stuck-partition'),
  },
  {
    name: 'DeadLetters',
    expression: 'increase(event_log_dead_letters_total[15m]) > 0',
    after: '0m',
    severity: 'ticket',
    summary: '{{ $labels.service }} could not process {{ $value }} records of {{ $labels.topic }}',
    meaning:
      'A record does not fit its schema, or makes the service throw. It waits in the dead-letter topic for 30 days.',
    runbook: runbook('dead-letters'),
  },
  {
    name: 'RecordsLost',
    expression: 'increase(event_log_lost_records_total[1h]) > 0',
    after: '0m',
    severity: 'page',
    summary:
      'retention deleted {{ $value }} records of {{ $labels.topic }} before {{ $labels.service }} read them',
    meaning:
      'A topic keeps its records for a shorter time than the service was away. They cannot be brought back.',
    runbook: runbook('positions'),
  },
  {
    name: 'SourceBehind',
    expression: 'min_over_time(topic_source_lag_records[10m]) > 10000',
    after: '5m',
    severity: 'ticket',
    summary:
      'the source {{ $labels.source }} is {{ $value }} records behind in partition {{ $labels.partition }}',
    meaning: "Events of a producer's topic are scored late.",
    runbook: 'docs/sources.md',
  },
  {
    name: 'SourceRecordsLost',
    expression: 'increase(topic_source_lost_records_total[1h]) > 0',
    after: '0m',
    severity: 'page',
    summary:
      'retention deleted {{ $value }} records of the source {{ $labels.source }} before they were read',
    meaning: "The producer's topic keeps its records for a shorter time than the source was away.",
    runbook: 'docs/sources.md',
  },
  {
    name: 'ServerErrors',
    expression:
      'sum by (instance) (rate(http_server_request_duration_count{http_response_status_code=~"5.."}[5m])) / sum by (instance) (rate(http_server_request_duration_count[5m])) > 0.02',
    after: '5m',
    severity: 'page',
    summary:
      '{{ $value | humanizePercentage }} of the answers of {{ $labels.instance }} are errors of the server',
    meaning: 'Callers get 5xx: a server or a service is away, or too slow.',
    runbook: runbook('stuck-partition'),
  },
  {
    name: 'SlowAnswers',
    expression:
      'histogram_quantile(0.99, sum by (le, instance) (rate(http_server_request_duration_bucket{http_request_method="POST",http_response_status_code="202"}[5m]))) > 1',
    after: '10m',
    severity: 'ticket',
    summary:
      'one of a hundred calls that send events to {{ $labels.instance }} takes longer than {{ $value }} s',
    meaning: 'Producers wait: the gateway or the brokers have too much to do.',
    runbook: runbook('more-processes'),
  },
  {
    name: 'EventLoopBlocked',
    expression: 'min_over_time(nodejs_eventloop_delay_p99[5m]) > 0.5',
    after: '5m',
    severity: 'ticket',
    summary: '{{ $labels.instance }} answers nothing for {{ $value }} s at a time',
    meaning: 'The process has more to compute than one processor can do.',
    runbook: runbook('more-processes'),
  },
  {
    name: 'MemoryHigh',
    expression: 'process_memory_usage > 1.2e9',
    after: '15m',
    severity: 'ticket',
    summary: '{{ $labels.instance }} uses {{ $value | humanize1024 }}B of memory',
    meaning:
      'The process comes close to the memory limit of docker-compose.yml, and would be ended and started again.',
    runbook: runbook('more-processes'),
  },
];
