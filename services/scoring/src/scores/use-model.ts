// What the limits of rules have counted on a lead: folded from decisions, and read when the next event is decided. Pure.
import { records } from '@lead-scoring/contracts';

type LimitUse = records.LimitUse;

/** One entry for each rule with limits that gave the lead points; the rule that counted last is the last one. */
export type LimitUses = readonly LimitUse[];

const none: LimitUses = [];

/** The most that is remembered of one lead: rules, and their days and values together. */
export const leadMemory = { rules: 1_000, details: 10_000 };

/**
 * Adds what a decision counted. When a lead would need more memory than it may, what was counted longest ago is forgotten
 * rule by rule, and the limits of a forgotten rule begin anew.
 */
export function withLimitUses(
  known: LimitUses | undefined = none,
  added: LimitUses | undefined,
): LimitUses | undefined {
  if (!added) return known.length === 0 ? undefined : known;
  const isAdded = new Set(added.map(({ rule_id }) => rule_id));
  const before = new Map<string, LimitUse>();
  const kept: LimitUse[] = [];
  for (const use of known)
    if (isAdded.has(use.rule_id)) before.set(use.rule_id, use);
    else kept.push(use);
  return withinMemory([...kept, ...added.map((use) => addUse(before.get(use.rule_id), use))]);
}

function withinMemory(uses: readonly LimitUse[]): LimitUses {
  let first = Math.max(0, uses.length - leadMemory.rules);
  let details = 0;
  for (const use of uses.slice(first)) details += detailsOf(use);
  for (; details > leadMemory.details && first < uses.length - 1; first += 1)
    details -= detailsOf(uses[first]);
  return first === 0 ? uses : uses.slice(first);
}

function detailsOf(use: LimitUse | undefined): number {
  return (use?.days?.length ?? 0) + (use?.values?.length ?? 0);
}

/** What was counted before and after, as one. The latest days are kept (`records.ruleMemory`). */
export function addUse(known: LimitUse | undefined, more: LimitUse): LimitUse {
  if (!known) return more;
  const events = (known.events ?? 0) + (more.events ?? 0);
  const points = (known.points ?? 0) + (more.points ?? 0);
  const days = withDays(known.days, more.days);
  const values = more.values ? [...(known.values ?? []), ...more.values] : known.values;
  return {
    rule_id: known.rule_id,
    ...(events > 0 && { events }),
    ...(points > 0 && { points }),
    ...(days && { days }),
    ...(values && { values }),
  };
}

type Days = NonNullable<LimitUse['days']>;

/** Days are in ascending order. */
function withDays(known: Days | undefined, more: Days | undefined): Days | undefined {
  if (!known || !more) return known ?? more;
  const days = [...known];
  for (const { day, points } of more) {
    // New days are mostly the latest ones.
    let index = days.length;
    while (index > 0 && (days[index - 1]?.day ?? '') > day) index -= 1;
    const same = days[index - 1];
    if (same?.day === day) days[index - 1] = { day, points: same.points + points };
    else days.splice(index, 0, { day, points });
  }
  return days.length > records.ruleMemory.days ? days.slice(-records.ruleMemory.days) : days;
}

/** Points that may still count on a day, so that no `cap_days` consecutive days have more than `cap_points`. */
export function roomOn(
  day: string,
  { days = [] }: Pick<LimitUse, 'days'>,
  { cap_points, cap_days }: { cap_points: number; cap_days: number },
): number {
  // What lies before the earliest remembered day may be forgotten: nothing more counts there.
  if (days.length >= records.ruleMemory.days && day < (days[0]?.day ?? '')) return 0;
  const begin = dayBefore(day, cap_days);
  let from = days.length;
  while (from > 0 && (days[from - 1]?.day ?? '') > begin) from -= 1;
  // The windows that end on the day, and on each later day that has points and shares a window with it.
  let sum = 0;
  let largest = 0;
  const end = dayBefore(day, -cap_days);
  for (const { day: last, points } of days.slice(from)) {
    if (last >= end) break;
    sum += points;
    const left = last > day ? dayBefore(last, cap_days) : begin;
    while ((days[from]?.day ?? end) <= left) {
      sum -= days[from]?.points ?? 0;
      from += 1;
    }
    largest = Math.max(largest, sum);
  }
  return Math.max(0, cap_points - largest);
}

const dayMs = 86_400_000;

/** The day (UTC) that lies so many days before. */
function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * dayMs).toISOString().slice(0, 10);
}
