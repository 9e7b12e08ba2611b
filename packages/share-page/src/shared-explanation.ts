// The data that a share link shows: the input of the page, the table, the picture and the public JSON.

/** A rule that gave or took points within the range. */
export interface SharedDriver {
  rule_id: string;
  event_type: string;
  count: number;
  weight: number;
  total: number;
  filter_label?: string | undefined;
  label?: string | undefined;
  /** The points of total that counted; absent where limits held nothing back. */
  counted_total?: number | undefined;
}

/** Points that no driver has, or that were held back from drivers. */
export interface SharedAdjustment {
  reason: string;
  points: number;
  /** In words. */
  text: string;
  label?: string | undefined;
  rule_id?: string | undefined;
}

/** A change of a profile or deal score. */
export interface SharedChange {
  rule_id?: string | undefined;
  points: number;
  decided_at: string;
  /** `+20: the profile began to meet "Decision maker" (title contains "vp").` */
  words: string;
}

/** The account of a lead. Nothing in it is of another lead. */
export interface SharedAccount {
  name: string;
  /** How many leads belong to it. */
  leads: number;
  /** What the leads give together first, then rules, then what limits hold. They add up to the score. */
  reasons: {
    reason: 'leads' | 'account_rule' | 'held_by_ruleset';
    points: number;
    /** `+15: the sum of the scores of its 2 leads.` */
    words: string;
  }[];
}

/** Everything that a shared page may show of a lead. */
export interface SharedExplanation {
  lead_name: string;
  /** Absent: the engagement score. */
  score_type?: 'profile' | 'deal' | 'account' | undefined;
  score: number;
  level?: { name: string; color: string };
  /** The largest first. */
  adjustments?: SharedAdjustment[] | undefined;
  /** The largest absolute contribution first. */
  top_drivers: SharedDriver[];
  snapshot: { event_type: string; weight: number }[];
  /** Zero or less. */
  decay_applied: number;
  range_hours: number;
  /** The score's course over the range: the first point at its start, the last at `computed_at`. Empty for an account score. */
  history: { at: string; score: number }[];
  /** The changes of a profile score over the range, the newest first; absent for an engagement score. */
  profile_entries?: SharedChange[] | undefined;
  /** The same of a deal score. */
  deal_entries?: SharedChange[] | undefined;
  /** The number of all changes of a profile or deal score over the range; the lists may hold fewer. */
  entries_total?: number | undefined;
  /** Of an account score; absent where the lead belongs to no account. */
  account?: SharedAccount | undefined;
  computed_at: string;
  expires_at: string;
}

/** Addresses of the page and of its other forms. */
export interface ShareLinks {
  page: string;
  json: string;
  csv: string;
  image: string;
}
