"""A client of the lead scoring API: a producer of events, and in `lead_scoring.rest` a typed call for each route."""

from lead_scoring.clients import AuthenticatedClient, Client
from lead_scoring.producer import DroppedEvents, Producer, ProducerClosed

__all__ = ["AuthenticatedClient", "Client", "DroppedEvents", "Producer", "ProducerClosed"]
