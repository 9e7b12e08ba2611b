// The scores of a lead, and that of its account.

/** The scores that lists of leads, milestones and share links offer, and that have levels. */
export const leadScoreTypes = ['engagement', 'profile'] as const;
export type LeadScoreType = (typeof leadScoreTypes)[number];

/** The scores of a lead, and that of the account that it belongs to: milestones watch them all. */
export const anyScoreTypes = [...leadScoreTypes, 'account'] as const;
export type AnyScoreType = (typeof anyScoreTypes)[number];
