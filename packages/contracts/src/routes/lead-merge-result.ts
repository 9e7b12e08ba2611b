// What a merge of leads has come to, in answers of jobs and of the routes that start them.
import { z } from 'zod';
import { id } from '../common.js';
import { leadMergeFound, maximumMergedLeads, startLeadMerge } from '../records/lead-merges.js';

export const leadMergeResult = z
  .strictObject({
    change: startLeadMerge.schema.shape.change,
    target_id: id,
    source_ids: z.array(id).min(1).max(maximumMergedLeads),
    events_moved: leadMergeFound.shape.events_moved.describe(
      'Events of the leads that have joined the target. 0 where a merge is taken back.',
    ),
  })
  .meta({ id: 'LeadMergeResult' });
export type LeadMergeResult = z.infer<typeof leadMergeResult>;
