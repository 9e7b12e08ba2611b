// The quotas of a credential and of an organisation, by name.

export const quotaNames = ['calls_per_day', 'calls_per_month', 'events_per_day', 'events_per_month'] as const;
export type QuotaName = (typeof quotaNames)[number];
