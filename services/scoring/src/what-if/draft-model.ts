// A draft of changed rules, levels and decay rules: the events that would make it live, decided as the single requests are. Pure.
import { nameBasedId, type records } from '@lead-scoring/contracts';
import {
  evolveConfiguration,
  isDeletedRule,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { applyConfiguration } from '../configuration-file/decide.js';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand, ConfigurationDecision, Refusal } from '../configuration/messages.js';

export type Draft = Pick<records.WhatIfWork, 'changes' | 'levels' | 'decays' | 'score_type'>;

/** Whose draft it is, and when it was made: the ids of what it creates follow from the job. */
export interface DraftStamp {
  readonly job_id: string;
  readonly at: string;
}

export type DraftDecision =
  Refusal | { outcome: 'done'; events: ConfigurationEvent[]; configuration: ScoringConfiguration };

/**
 * The events that make a draft live, and the configuration with them; none where it is live already.
 * @param live the configuration that the draft changes
 */
export function draftOf(draft: Draft, live: ScoringConfiguration, stamp: DraftStamp): DraftDecision {
  const events: ConfigurationEvent[] = [];
  let configuration = live;
  const take = (decision: ConfigurationDecision): Refusal | null => {
    if (decision.outcome === 'rejected') return decision;
    events.push(...decision.events);
    configuration = decision.events.reduce(evolveConfiguration, configuration);
    return null;
  };
  for (const [index, change] of draft.changes.entries()) {
    const command = commandOf(change, configuration, { index, stamp });
    const refusal =
      command && (refusalOfKind(change, configuration) ?? take(decideConfiguration(command, configuration)));
    if (refusal) return inChange(refusal, index);
  }
  const refusal = take(applyConfiguration(sectionsOf(draft, configuration, stamp), configuration));
  return refusal ? inSections(refusal) : { outcome: 'done', events, configuration };
}

/** The command of a change; null where a rule that is to be removed is gone already. */
function commandOf(
  change: records.DraftChange,
  configuration: ScoringConfiguration,
  { index, stamp: { job_id, at: requested_at } }: { index: number; stamp: DraftStamp },
): ConfigurationCommand | null {
  const { ou_id } = configuration;
  if (change.op === 'add') {
    const rule_id = nameBasedId(job_id, `rule:${String(index)}`);
    return 'conditions' in change.rule
      ? { type: 'CreateProfileRule', payload: { ou_id, rule_id, ...change.rule, requested_at } }
      : { type: 'CreateRule', payload: { ou_id, rule_id, ...change.rule, requested_at } };
  }
  const rule_id = change.rule_id.toLowerCase();
  if (change.op === 'change')
    return { type: 'UpdateRule', payload: { ou_id, rule_id, ...change.rule, requested_at } };
  if (isDeletedRule(configuration, rule_id)) return null;
  return { type: 'DeleteRule', payload: { ou_id, rule_id, requested_at } };
}

/** The refusal of a rule over accounts or deals, whose scores are not replayed. */
function refusalOfKind(change: records.DraftChange, configuration: ScoringConfiguration): Refusal | null {
  const { rulesets, accounts, deals } = configuration;
  const isOther =
    change.op === 'add'
      ? isOfOtherKind(rulesets.get(change.rule.ruleset_id?.toLowerCase() ?? '')?.score_type)
      : [accounts, deals].some((part) => part?.rules.has(change.rule_id.toLowerCase()));
  if (!isOther) return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message:
      'A what-if replays the scores of leads: it takes engagement and profile rules. Leave rules of accounts and deals out.',
    errors: [{ path: 'body', message: 'must be about an engagement or a profile rule' }],
  };
}

function isOfOtherKind(scoreType: string | undefined): boolean {
  return scoreType === 'account' || scoreType === 'deal';
}

/** The levels and the decay rules of a draft, as a document of the configuration without any other section. */
function sectionsOf(
  { levels, decays, score_type }: Draft,
  { ou_id }: ScoringConfiguration,
  { job_id, at }: DraftStamp,
): records.ApplyConfiguration {
  const section = score_type === 'profile' ? 'profile_levels' : 'engagement_levels';
  return {
    ou_id,
    change_id: job_id,
    configuration: { ...(levels && { [section]: levels }), ...(decays && { decays }) },
    dry_run: false,
    requested_at: at,
  };
}

function inChange(refusal: Refusal, index: number): Refusal {
  return withPaths({ ...refusal, message: `In change ${String(index + 1)}: ${refusal.message}` }, (path) =>
    path.replace(/^body/, `body.changes[${String(index)}].rule`),
  );
}

/** The sections have other names in a document of the whole configuration. */
function inSections(refusal: Refusal): Refusal {
  return withPaths(refusal, (path) => path.replace(/^body\.(?:engagement|profile)_levels/, 'body.levels'));
}

function withPaths(refusal: Refusal, moved: (path: string) => string): Refusal {
  const { errors } = refusal;
  if (!errors) return refusal;
  return { ...refusal, errors: errors.map(({ path, message }) => ({ path: moved(path), message })) };
}

/** The configuration as if its decay rules had always been in force, and those of before had never been. */
export function alwaysInForce(configuration: ScoringConfiguration): ScoringConfiguration {
  const { decays } = configuration;
  if (!decays) return configuration;
  const rules = new Map(
    [...decays.rules].map(([id, rule]) => [id, { ...rule, counts_from: beginningOfTime }] as const),
  );
  return { ...configuration, decays: { ...decays, rules, former: [] } };
}

const beginningOfTime = '0001-01-01T00:00:00.000Z';
