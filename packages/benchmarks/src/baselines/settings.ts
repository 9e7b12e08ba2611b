// The settings of a baseline's process, from its environment.

export interface BaselineSettings {
  port: number;
  brokers: string[];
  topic: string;
  mongodbUri: string;
  database: string;
}

/** @throws Error when a variable is missing: only the benchmark starts these programs, and it gives all of them */
export function baselineSettings(environment: NodeJS.ProcessEnv): BaselineSettings {
  const { PORT, KAFKA_BROKERS, TOPIC, MONGODB_URI, DATABASE } = environment;
  if (!PORT || !KAFKA_BROKERS || !TOPIC || !MONGODB_URI || !DATABASE)
    throw new Error('PORT, KAFKA_BROKERS, TOPIC, MONGODB_URI and DATABASE must be set');
  return {
    port: Number(PORT),
    brokers: KAFKA_BROKERS.split(','),
    topic: TOPIC,
    mongodbUri: MONGODB_URI,
    database: DATABASE,
  };
}

/** An event of the workload, as POST /ingest receives it. */
export interface SentEvent {
  alias: string;
  event_type: string;
  timestamp: string;
  metadata: Record<string, unknown>;
}
