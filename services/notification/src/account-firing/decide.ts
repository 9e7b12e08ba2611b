// Decides which triggers a decision on an account's score fires, re-arms or silences. Pure: times come with the record, and the
// only inputs are the account's state and the configuration in force.
import type { AccountCause, records } from '@lead-scoring/contracts';
import {
  type CompiledMilestone,
  type CompiledTriggers,
  distinctRuleIds,
  firingIdOf,
  flood,
  isRearmedBy,
  memorySince,
  type MilestoneTrigger,
  positionText,
  reactionOf,
  recentFirings,
  silentUntil,
  type Source,
} from '@lead-scoring/scoring-domain/triggers';
import { evolveAccount } from './evolve.js';
import type { AccountFiringEvent } from './messages.js';
import type { AccountState } from './state.js';

export interface AccountFiringDecision {
  readonly events: readonly AccountFiringEvent[];
  /** The account's state with the events folded. */
  readonly state: AccountState;
}

/** Whether the decision can make a trigger do anything; if not, the account's state is not loaded. */
export function concernsAccount(scored: records.AccountScored, triggers: CompiledTriggers): boolean {
  // The firings for an account without leads are deleted, also those of triggers that were deleted.
  if (scored.leads === 0) return triggers.version > 0;
  const { previous_score, score, fire_triggers } = scored;
  const milestones = triggers.ofScore('account');
  if (milestones.passesRearmBound(previous_score, score)) return true;
  return fire_triggers && milestones.crossed(previous_score, score).length > 0;
}

/** Decides on the milestones of an account's score. The same record twice is a no-op. */
export function decideAccountScored(
  scored: records.AccountScored,
  source: Source,
  state: AccountState,
  triggers: CompiledTriggers,
): AccountFiringDecision {
  if (source.offset <= state.seen) return { events: [], state };
  const decided: DecidedAccount = { scored, source, state, version: triggers.version };
  // An account without leads is gone. The fall of its score to 0 fires no trigger.
  const events =
    scored.leads === 0
      ? forgetAccount(decided)
      : [...crossMilestones(decided, triggers), ...rearmMilestones(decided, triggers)];
  return { events, state: events.reduce(evolveAccount, state) };
}

interface DecidedAccount {
  readonly scored: records.AccountScored;
  readonly source: Source;
  readonly state: AccountState;
  /** The version of the OU's channels and triggers. */
  readonly version: number;
}

/**
 * Gives no event for an account for which nothing ever fired. An account that was forgotten before is forgotten once more: the event
 * moves the position in its state, which is all that the state still has.
 */
function forgetAccount({ scored, source, state }: DecidedAccount): AccountFiringEvent[] {
  if (state.seen < 0) return [];
  const { ou_id, account_id, decided_at } = scored;
  return [{ type: 'AccountForgotten', payload: { ou_id, account_id, source, at: decided_at } }];
}

function crossMilestones(decided: DecidedAccount, triggers: CompiledTriggers): AccountFiringEvent[] {
  const { previous_score, score, fire_triggers } = decided.scored;
  if (!fire_triggers) return [];
  return triggers
    .ofScore('account')
    .crossed(previous_score, score)
    .flatMap((milestone) => crossMilestone(decided, milestone));
}

/** Fires unless the trigger is disarmed or silent for the account. A trigger that fires too often is silenced instead. */
function crossMilestone(decided: DecidedAccount, { trigger, line }: CompiledMilestone): AccountFiringEvent[] {
  const { scored, state } = decided;
  const memory = memorySince(trigger, state.memories.get(trigger.id));
  const now = Date.parse(scored.decided_at);
  if (memory.disarmed !== null && !isRearmedBy(line, scored.previous_score)) return [];
  switch (reactionOf(trigger, memory, now)) {
    case 'silent':
      return [];
    case 'suppress':
      return [suppression(decided, trigger, recentFirings(memory, now))];
    case 'fire':
      return [firing(decided, trigger, line)];
  }
}

/** The milestones that have fired for the account and that its score re-arms, at another score than their threshold. */
function rearmMilestones(decided: DecidedAccount, triggers: CompiledTriggers): AccountFiringEvent[] {
  const { scored, state } = decided;
  const { score, previous_score } = scored;
  const milestones = triggers.ofScore('account');
  if (!milestones.passesRearmBound(previous_score, score)) return [];
  return [...state.memories].flatMap(([trigger_id, memory]): AccountFiringEvent[] => {
    const milestone = milestones.rearmed.get(trigger_id);
    if (!milestone || memorySince(milestone.trigger, memory).disarmed === null) return [];
    if (!isRearmedBy(milestone.line, score)) return [];
    const payload = { ...baseOf(decided), trigger_id, score, at: scored.decided_at };
    return [{ type: 'AccountTriggerRearmed', payload }];
  });
}

/** The fields that all events of the decision share. */
function baseOf({ scored: { ou_id, account_id }, source, version }: DecidedAccount) {
  return { ou_id, account_id, configuration_version: version, source };
}

function firing(
  decided: DecidedAccount,
  { id, name, channel_ids }: MilestoneTrigger,
  { threshold, direction }: CompiledMilestone['line'],
): AccountFiringEvent {
  const { scored, source } = decided;
  const { account_id, account_kind, account_key, account_name = account_key, leads } = scored;
  return {
    type: 'AccountMilestoneFired',
    payload: {
      ...baseOf(decided),
      firing_id: firingIdOf(id, account_id, positionText(source)),
      fired_at: scored.decided_at,
      trigger: { id, name, kind: 'milestone' },
      account: { id: account_id, name: account_name, account_kind, account_key, leads },
      score: scored.score,
      previous_score: scored.previous_score,
      score_type: 'account',
      threshold,
      direction,
      cause: causeOf(scored),
      channel_ids,
    },
  };
}

function suppression(
  decided: DecidedAccount,
  { id, name }: MilestoneTrigger,
  firings: number,
): AccountFiringEvent {
  const at = decided.scored.decided_at;
  return {
    type: 'AccountTriggerSuppressed',
    payload: {
      ...baseOf(decided),
      trigger: { id, name, kind: 'milestone' },
      firings,
      window_seconds: flood.windowSeconds,
      at,
      until: silentUntil(Date.parse(at)),
    },
  };
}

/** If both leads and rules changed the score, the cause is the leads. */
function causeOf({ adjustments, decided_at }: records.AccountScored): AccountCause {
  const ofLeads = adjustments.some(({ reason, points }) => reason === 'leads' && points !== 0);
  return {
    event_id: null,
    event_type: null,
    reason: ofLeads ? 'leads' : 'account_rule',
    rule_ids: distinctRuleIds(adjustments),
    timestamp: decided_at,
  };
}
