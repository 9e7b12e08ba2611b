// Decides the ticks of decay rules on a lead: pure. Each tick that takes points is a decision of its own, dated at its time,
// whenever it is decided.
import type { records } from '@lead-scoring/contracts';
import { nextTick, ticksUpTo, type DecayingLead, type DecayTick } from '@lead-scoring/scoring-domain';
import type { CompiledRules } from '../scores/rule-model.js';

type DecidingRules = Pick<CompiledRules, 'decays' | 'version'>;

export interface DecidedTicks<Lead> {
  readonly events: records.ScoreAdjusted[];
  /** With the ticks folded. */
  readonly lead: Lead;
}

/**
 * The ticks up to a moment that are not recorded yet.
 * @param upTo ticks after it are left to a later decision
 * @param decidedAt when this is decided
 * @param maximum further ticks are left to a later decision
 */
export function decideTicks<Lead extends DecayingLead>(
  identity: { readonly ou_id: string; readonly lead_id: string },
  before: Lead,
  { decays, version }: DecidingRules,
  { upTo, decidedAt, maximum }: { upTo: string; decidedAt: string; maximum?: number },
): DecidedTicks<Lead> {
  if (!decays) return { events: [], lead: before };
  const { ticks, lead } = ticksUpTo(before, decays.compiled, upTo, maximum);
  let previous_score = before.score;
  const events = ticks.map(({ tick, after }) => {
    const event = tickRecord(identity, tick, {
      previous_score,
      score: after.score,
      configuration_version: version,
      decided_at: decidedAt,
      decay_due_at: nextTick(after, decays.compiled)?.at ?? null,
    });
    previous_score = after.score;
    return event;
  });
  return { events, lead };
}

function tickRecord(
  { ou_id, lead_id }: { readonly ou_id: string; readonly lead_id: string },
  { period, at, number, points, fraction }: DecayTick,
  decided: Pick<
    records.ScoreAdjusted,
    'previous_score' | 'score' | 'configuration_version' | 'decided_at' | 'decay_due_at'
  >,
): records.ScoreAdjusted {
  const { rule_id, rule_version, ruleset_id } = period;
  return {
    ou_id,
    lead_id,
    score_type: 'engagement',
    ...decided,
    adjustments: [
      {
        reason: 'decay',
        points,
        ...(ruleset_id !== undefined && { ruleset_id }),
        rule_id,
        rule_version,
        tick: number,
        ...(fraction !== undefined && { fraction }),
      },
    ],
    as_of: at,
    fire_triggers: true,
  };
}

/** When decay takes points of a lead next, as decisions record it; undefined where the OU has had no decay rules. */
export function dueAfter(
  lead: DecayingLead,
  { decays }: Pick<CompiledRules, 'decays'>,
): string | null | undefined {
  return decays ? (nextTick(lead, decays.compiled)?.at ?? null) : undefined;
}
