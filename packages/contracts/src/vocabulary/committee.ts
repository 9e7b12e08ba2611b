// Buying committees: the roles of an account's people in a purchase.

/** Roles in the order in which they are listed; `other` is everybody whose title says none of them. */
export const committeeRoles = [
  'decision_maker',
  'champion',
  'finance',
  'technical',
  'legal',
  'procurement',
  'user',
] as const;
export type CommitteeRole = (typeof committeeRoles)[number];

export const committeeLimits = {
  /** The leads of an account that are looked at, those with the highest scores. */
  leads: 1_000,
  /** The leads that are shown of each role. */
  shown: 25,
};

/** The days without an event after which a lead is silent, where a query names none. */
export const usualSilentDays = 30;
