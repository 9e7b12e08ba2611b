// What is set for a lead.
import { metadataInForce, noMetadata, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { hasEvents } from '../events/leads-of-alias.js';
import { readLeadMetadata } from './documents.js';

export function leadMetadataQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.getLeadMetadata, async ({ params, context: { ouId } }) => {
      const lead_id = params.leadID.toLowerCase();
      // A lead of another organizational unit has no events in this one.
      if (!(await hasEvents(readModel, ouId, lead_id)))
        throw new ProblemError(404, 'lead_not_found', 'No lead of this organizational unit has this id.');
      const known = await readLeadMetadata(readModel, [lead_id]);
      return { lead_id, metadata: metadataInForce(known.get(lead_id) ?? noMetadata) };
    }),
  ];
}
