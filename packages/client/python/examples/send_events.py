"""Sends the events of standard input, one as JSON a line."""

import json
import os
import sys

from lead_scoring import AuthenticatedClient, Producer

client = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["LEAD_SCORING_TOKEN"])
with Producer(client, on_dropped=lambda dropped: print(dropped, file=sys.stderr)) as producer:
    for line in sys.stdin:
        producer.send(json.loads(line))
