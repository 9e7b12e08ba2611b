"""Follows the engagement score of every lead. It knows the AsyncAPI document, the brokers and the schema registry, and nothing else of the
system. Each change is a line of JSON on standard output: {"type", "lead_id", "score"}; a lead that is gone has the score null.

    pip install -r requirements.txt
    API_URL=… KAFKA_BROKERS=… SCHEMA_REGISTRY_URL=… GROUP_ID=crm.scores python scores.py
"""

import json
import os
import signal
import sys
import urllib.request

from confluent_kafka import Consumer, KafkaException
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

document = json.load(urllib.request.urlopen(f"{os.environ['API_URL']}/asyncapi.json"))
topic = document["channels"]["scoring.events"]["address"]
registry = SchemaRegistryClient({"url": os.environ["SCHEMA_REGISTRY_URL"]})
# Without a schema of its own it takes the one under which the record was written.
decode = JSONDeserializer(None, schema_registry_client=registry)


def change_of(type, payload):
    """What a record says of a lead's engagement score; None for a record that says nothing of it."""
    if type == "LeadScored" or type == "ScoreAdjusted" and payload["score_type"] == "engagement":
        return {"type": type, "lead_id": payload["lead_id"], "score": payload["score"]}
    if type == "LeadRemoved":
        return {"type": type, "lead_id": payload["lead_id"], "score": None}
    return None


def stop(*_):
    sys.exit()


signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
consumer = Consumer(
    {
        "bootstrap.servers": os.environ["KAFKA_BROKERS"],
        "group.id": os.environ.get("GROUP_ID", "crm.scores"),
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
    }
)
consumer.subscribe([topic])
try:
    while True:
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        type = dict(message.headers())["type"].decode()
        # A topic has types that a program does not need, and later ones that it does not know.
        if type not in ("LeadScored", "ScoreAdjusted", "LeadRemoved"):
            continue
        payload = decode(message.value(), SerializationContext(topic, MessageField.VALUE))
        if change := change_of(type, payload):
            print(json.dumps(change), flush=True)
finally:
    # Commits the offsets of what was printed.
    consumer.close()
