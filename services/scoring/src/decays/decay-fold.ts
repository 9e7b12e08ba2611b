// Folds decisions into what a lead remembers for decay: pure.
import type { records } from '@lead-scoring/contracts';
import {
  momentOfEvent,
  nextTick,
  withTick,
  type CompiledDecays,
  type LeadDecay,
} from '@lead-scoring/scoring-domain';
import type { Lead } from '../leads/state.js';

/** The time of the last scored event; events that happened before it do not move it. */
export function lastScoredAt(
  known: string | undefined,
  decision: Pick<records.LeadScored, 'scored_events' | 'decided_at'>,
): string | undefined {
  let last = known;
  for (const event of decision.scored_events) {
    const moment = momentOfEvent(event, decision);
    if (last === undefined || moment > last) last = moment;
  }
  return last;
}

/**
 * A decision on events that gave points begins the course of each rule anew: ticks of before are not made up for. So an imported
 * history fades from now on, and not once more for all the time since.
 */
export function decayAfterScored(
  known: LeadDecay | undefined,
  decision: Pick<
    records.LeadScored,
    'scored_events' | 'decided_at' | 'previous_score' | 'score' | 'decay_due_at'
  >,
): LeadDecay | undefined {
  const { scored_events, previous_score, score, decided_at, decay_due_at } = decision;
  // The OU has had no decay rules.
  if (decay_due_at === undefined) return known;
  const moved = scored_events.length > 0 || previous_score !== score;
  return withDue(moved ? begunAnew(known, decided_at) : known, decay_due_at);
}

/** After a tick the rule goes on from there; after any other decision without an event all rules begin anew. */
export function decayAfterAdjusted(
  known: LeadDecay | undefined,
  { adjustments, as_of, decided_at, decay_due_at }: records.ScoreAdjusted,
): LeadDecay | undefined {
  if (decay_due_at === undefined) return known;
  const tick = adjustments.find(({ reason }) => reason === 'decay');
  if (tick?.rule_id === undefined || as_of === undefined)
    return withDue(begunAnew(known, decided_at), decay_due_at);
  const { rule_id, fraction } = tick;
  return withDue(
    withTick(known, { rule_id, at: as_of, ...(fraction !== undefined && { fraction }) }),
    decay_due_at,
  );
}

/** The clock of the machine that decides may be behind that of the one before. */
function begunAnew(known: LeadDecay | undefined, decidedAt: string): LeadDecay {
  const since = known?.since;
  return { since: since !== undefined && since > decidedAt ? since : decidedAt };
}

/** @param dueAt null: never */
export function withDue(known: LeadDecay | undefined, dueAt: string | null): LeadDecay | undefined {
  const { since, ticks } = known ?? {};
  if (since === undefined && !ticks && dueAt === null) return undefined;
  return {
    ...(since !== undefined && { since }),
    ...(ticks && { ticks }),
    ...(dueAt !== null && { due_at: dueAt }),
  };
}

/** The lead with the time at which it is due by these rules, and an entry of that time; the same lead where it is never due, nor was. */
export function scheduledLead(lead: Lead, decays: CompiledDecays, offset: number): Lead {
  const { decay: known, due_entry, ...kept } = lead;
  const at = nextTick(lead, decays)?.at;
  if (at === undefined && known?.due_at === undefined && !due_entry) return lead;
  const decay = withDue(known, at ?? null);
  return { ...kept, offset, ...(decay && { decay }), ...(at !== undefined && { due_entry: { at, offset } }) };
}
