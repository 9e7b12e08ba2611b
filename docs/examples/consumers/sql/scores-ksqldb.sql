-- Leads whose engagement score has reached 100, for ksqlDB 0.24 or newer (columns of headers came with it). Set the topic to the address of
-- the channel `scoring.events` in /asyncapi.json: <namespace>.scoring.events.
--
-- The topic has many record types, each with a schema of its own, so no single VALUE_FORMAT reads it. The value is taken as bytes: five of
-- them are the registry's prefix, the rest is JSON.

SET 'processing.guarantee' = 'exactly_once_v2';  -- reads committed records only
SET 'auto.offset.reset' = 'earliest';

CREATE STREAM scoring_records (
  record_key STRING KEY,
  record_type BYTES HEADER('type'),
  record_value BYTES
) WITH (KAFKA_TOPIC = 'lead-scoring.scoring.events', KEY_FORMAT = 'KAFKA', VALUE_FORMAT = 'KAFKA');

CREATE STREAM scoring_payloads AS
  SELECT
    record_key,
    FROM_BYTES(record_type, 'utf8') AS type,
    -- Ten digits are five bytes.
    FROM_BYTES(TO_BYTES(SUBSTRING(FROM_BYTES(record_value, 'hex'), 11), 'hex'), 'utf8') AS payload
  FROM scoring_records
  EMIT CHANGES;

CREATE STREAM engagement_scores AS
  SELECT
    EXTRACTJSONFIELD(payload, '$.lead_id') AS lead_id,
    CASE WHEN type = 'LeadRemoved' THEN NULL ELSE CAST(EXTRACTJSONFIELD(payload, '$.score') AS INT) END AS score
  FROM scoring_payloads
  WHERE type = 'LeadScored'
     OR type = 'LeadRemoved'
     OR (type = 'ScoreAdjusted' AND EXTRACTJSONFIELD(payload, '$.score_type') = 'engagement')
  PARTITION BY EXTRACTJSONFIELD(payload, '$.lead_id')
  EMIT CHANGES;

CREATE TABLE hot_leads AS
  SELECT lead_id, LATEST_BY_OFFSET(score, false) AS score
  FROM engagement_scores
  GROUP BY lead_id
  HAVING LATEST_BY_OFFSET(score, false) >= 100
  EMIT CHANGES;
