"""Prints the engagement score of the lead with an alias, such as `email ada@example.com`; where there is none, the code of the problem."""

import os
import sys

from lead_scoring import AuthenticatedClient
from lead_scoring.rest.api.leads import find_lead_by_alias, get_score
from lead_scoring.rest.models import LeadOfAlias, Problem

kind, alias = sys.argv[1:]
client = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["LEAD_SCORING_TOKEN"])
answer = find_lead_by_alias.sync(client=client, alias_kind=kind, alias=alias)
if isinstance(answer, LeadOfAlias):
    answer = get_score.sync(answer.lead_id, client=client)
print(answer.code if isinstance(answer, Problem) else answer.score)
