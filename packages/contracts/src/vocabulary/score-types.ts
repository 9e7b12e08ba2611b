// The scores of a lead, and that of its account.

/** The scores that have levels. */
export const levelledScoreTypes = ['engagement', 'profile'] as const;
export type LevelledScoreType = (typeof levelledScoreTypes)[number];

/** The scores that lists of leads and explanations offer. */
export const leadScoreTypes = [...levelledScoreTypes, 'deal'] as const;
export type LeadScoreType = (typeof leadScoreTypes)[number];

/** The scores of a lead, and that of the account that it belongs to: milestones watch, and share links explain, them all. */
export const anyScoreTypes = [...leadScoreTypes, 'account'] as const;
export type AnyScoreType = (typeof anyScoreTypes)[number];
