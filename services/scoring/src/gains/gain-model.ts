// The points that leads gained, by lead and hour, as lists of entries in the order of the log. Points count in the hour of their
// moment on the clock of the events, as in explanations. Folds change the open list in place. Pure.
import { routeDeclarations } from '@lead-scoring/contracts';
import { resetsScore, visitPoints, type ScoreDecision } from '@lead-scoring/scoring-domain';

export const hourMs = 3_600_000;

/** Gains are kept for the longest range that may be asked for. */
export const keptHours = routeDeclarations.maximumGainHours;

/** Entries of a full list. */
export const entriesPerList = 100;

/** What a lead gained in an hour, or the restart of its score. */
export interface GainEntry {
  readonly lead_id: string;
  /** Hours since 1970, UTC. */
  readonly hour: number;
  /** null: the score restarted from zero, and entries before this one no longer count. */
  readonly points: number | null;
}

/** The last entries of an OU in a partition, and what is known of the full lists before them. */
export interface OpenGains {
  /** By lead; those of a lead in the order in which they began. Texts of lead and hour as keys cost 50 times as much. */
  readonly byLead: Map<string, GainEntry[]>;
  /** The number of entries. */
  size: number;
  /** The number of full lists. */
  lists: number;
  /** The hour of the latest full list; 0 where there is none. */
  hour: number;
}

/** A full list of entries: it changes no more, except that leads are deleted. */
export interface GainList {
  /** Its place among the lists of its OU and partition, from 0. */
  readonly number: number;
  /** No entry of this or an earlier list is of a later hour. */
  readonly hour: number;
  readonly entries: readonly GainEntry[];
}

/** @param known the open entries, in their order */
export function openGains(known: readonly GainEntry[] = [], { lists = 0, hour = 0 } = {}): OpenGains {
  const open: OpenGains = { byLead: new Map(), size: 0, lists, hour };
  for (const entry of known) push(open, entry);
  return open;
}

/**
 * Adds what a decision on the engagement score gave and took; points from before the kept hours are left out. A rescoring is no gain:
 * the lead has done nothing.
 * @param size the entries of a full list
 * @returns the lists that became full
 */
export function addGains(open: OpenGains, decision: ScoreDecision, size = entriesPerList): GainList[] {
  if ('score_type' in decision && (decision.score_type !== 'engagement' || decision.rescored)) return [];
  const full: GainList[] = [];
  const { lead_id, decided_at } = decision;
  const put = (entry: GainEntry) => {
    const list = open.size >= size ? closed(open) : null;
    if (list) full.push(list);
    push(open, entry);
  };
  if (resetsScore(decision)) {
    removeGains(open, lead_id);
    // Entries of full lists are taken back by the restart.
    if (open.lists > 0) put({ lead_id, hour: hourOf(decided_at), points: null });
    return full;
  }
  for (const [hour, points] of pointsByHour(decision)) {
    const known = open.byLead.get(lead_id);
    const place = known?.findIndex((entry) => entry.hour === hour && entry.points !== null) ?? -1;
    const before = known?.[place];
    if (known && before) known[place] = { lead_id, hour, points: (before.points ?? 0) + points };
    else if (hour >= hourOf(decided_at) - keptHours) put({ lead_id, hour, points });
  }
  return full;
}

/** The points of a decision by hour, without those that come to nothing. */
function pointsByHour(decision: ScoreDecision): [hour: number, points: number][] {
  const sums: [hour: number, points: number][] = [];
  visitPoints(decision, (points, moment) => {
    if (points === 0) return;
    const hour = hourOf(moment);
    const known = sums.find(([other]) => other === hour);
    if (known) known[1] += points;
    else sums.push([hour, points]);
  });
  return sums;
}

function push(open: OpenGains, entry: GainEntry): void {
  const known = open.byLead.get(entry.lead_id);
  if (known) known.push(entry);
  else open.byLead.set(entry.lead_id, [entry]);
  open.size += 1;
}

/** All open entries, in their order. */
export function openEntries({ byLead }: OpenGains): GainEntry[] {
  return [...byLead.values()].flat();
}

/** Makes a full list of the entries that are kept; null where none is. */
function closed(open: OpenGains): GainList | null {
  const all = openEntries(open);
  const hour = Math.max(open.hour, ...all.map((entry) => entry.hour));
  const entries = all.filter((entry) => entry.hour >= hour - keptHours);
  open.byLead.clear();
  open.size = 0;
  if (entries.length === 0) return null;
  const list = { number: open.lists, hour, entries };
  open.lists += 1;
  open.hour = hour;
  return list;
}

/** Removes the open entries of a lead. */
export function removeGains(open: OpenGains, leadId: string): void {
  open.size -= open.byLead.get(leadId)?.length ?? 0;
  open.byLead.delete(leadId);
}

/** The hours since 1970 up to the beginning of the hour of a time. */
export function hourOf(time: string): number {
  return Math.floor(Date.parse(time) / hourMs);
}
