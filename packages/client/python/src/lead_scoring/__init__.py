"""A client of the lead scoring API: a producer of events, and in `lead_scoring.rest` a typed call for each route."""

from lead_scoring.producer import DroppedEvents, Producer, ProducerClosed
from lead_scoring.rest import AuthenticatedClient, Client

__all__ = ["AuthenticatedClient", "Client", "DroppedEvents", "Producer", "ProducerClosed"]
