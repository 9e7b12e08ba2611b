// Attribution: how the credit for a won deal is shared among the touches before it.

/** Models of sharing. `time_decay` takes a half-life. */
export const attributionModels = [
  'first_touch',
  'last_touch',
  'linear',
  'time_decay',
  'position_based',
] as const;
export type AttributionModel = (typeof attributionModels)[number];

/** The fields of touches by which credit is summed up. */
export const attributionDimensions = ['event_type', 'campaign', 'path'] as const;
export type AttributionDimension = (typeof attributionDimensions)[number];

/** The half-life of time_decay in days, where a query names none. */
export const usualHalfLifeDays = 7;

/** Stages of won deals in lower case, where a query names none. */
export const wonStages = ['won', 'closed won', 'closed_won', 'closed-won', 'closedwon'] as const;

/** The days before `to` at which a range begins that has no `from`. */
export const usualAttributionDays = 90;

/** What one answer may take into account: the work of a query is bounded by these. */
export const attributionLimits = { deals: 1_000, leads: 5_000, events: 100_000 };

/** Lengths of the texts of a touch. */
export const touchLimits = { campaign: 200, path: 500 };
