// The scores of a lead.

/** The scores that lists of leads, milestones and share links offer, and that have levels. */
export const leadScoreTypes = ['engagement', 'profile'] as const;
export type LeadScoreType = (typeof leadScoreTypes)[number];
