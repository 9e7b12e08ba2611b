// The settings of `npm start` itself, with their meaning, for its help and docs/settings.md.

export const startSettings = {
  LEAD_SCORING_PORT: 'the port of the API; default 8080, or any free port when that is in use',
  LEAD_SCORING_RUN_DIRECTORY: 'the folder of data, logs and secrets; default .run in the checkout',
  KAFKA_BROKERS: 'your own Kafka, in place of one that is started here',
  SCHEMA_REGISTRY_URL: 'your own schema registry, likewise',
  MONGODB_URI: 'your own MongoDB, likewise',
  INGEST_PROCESSES: 'the number of processes of ingest; default 1, and more than PARTITIONS are of no use',
  SCORING_PROCESSES: 'the number of processes of scoring, likewise',
  NOTIFICATION_PROCESSES: 'the number of processes of notification, likewise',
  SHARE_PROCESSES: 'the number of processes of share, likewise',
  SITE_ANALYSIS_PROCESSES: 'the number of processes of site-analysis, likewise',
} as const;
