-- The engagement score of every lead that has one, for Flink SQL 1.17 or newer with the Kafka connector. Set the topic to the address of the
-- channel `scoring.events` in /asyncapi.json: <namespace>.scoring.events.
--
-- The topic has many record types, each with a schema of its own, so no single format reads it. The value is taken as bytes: five of them
-- are the registry's prefix, the rest is JSON. ISO-8859-1 has one character for each byte, so that the prefix can be cut off.

CREATE TABLE scoring_records (
  record_value BYTES,
  headers MAP<STRING, BYTES> METADATA,
  record_partition INT METADATA FROM 'partition',
  record_offset BIGINT METADATA FROM 'offset',
  decided_at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
) WITH (
  'connector' = 'kafka',
  'topic' = 'lead-scoring.scoring.events',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.group.id' = 'crm.scores-flink',
  'properties.isolation.level' = 'read_committed',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'raw'
);

CREATE VIEW scoring_payloads AS
SELECT
  DECODE(headers['type'], 'UTF-8') AS type,
  DECODE(ENCODE(SUBSTRING(DECODE(record_value, 'ISO-8859-1'), 6), 'ISO-8859-1'), 'UTF-8') AS payload,
  record_partition,
  record_offset
FROM scoring_records;

-- All records of a lead are in one partition, in the order in which they were decided.
CREATE VIEW engagement_scores AS
SELECT lead_id, score
FROM (
  SELECT
    JSON_VALUE(payload, '$.lead_id') AS lead_id,
    CASE WHEN type = 'LeadRemoved' THEN NULL ELSE JSON_VALUE(payload, '$.score' RETURNING INTEGER) END AS score,
    ROW_NUMBER() OVER (PARTITION BY JSON_VALUE(payload, '$.lead_id') ORDER BY record_offset DESC) AS latest
  FROM scoring_payloads
  WHERE type IN ('LeadScored', 'LeadRemoved')
     OR (type = 'ScoreAdjusted' AND JSON_VALUE(payload, '$.score_type') = 'engagement')
)
WHERE latest = 1 AND score IS NOT NULL;

SELECT * FROM engagement_scores;
