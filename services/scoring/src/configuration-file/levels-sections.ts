// The levels and the grid of a document. Pure.
import type { records } from '@lead-scoring/contracts';
import { noAccounts } from '@lead-scoring/scoring-domain';
import { decideAccountConfiguration } from '../accounts/decide-configuration.js';
import type { Refusal } from '../configuration/messages.js';
import { setEngagementLevels } from '../levels/decide.js';
import { decideGridCommand } from '../levels/decide-grid.js';
import { inPlace, type Plan } from './plan.js';

export function planEngagementLevels(plan: Plan): Refusal | null {
  const levels = plan.file.engagement_levels;
  if (!levels) return null;
  const decision = setEngagementLevels(commandOf(plan, levels), plan.before);
  if (decision.outcome === 'rejected') return refused(decision, 'engagement_levels');
  plan.events.push(...decision.events);
  if (decision.events.length > 0) plan.changes.levels('engagement_levels', plan.before.levels, levels);
  return null;
}

export function planProfileLevels(plan: Plan): Refusal | null {
  const levels = plan.file.profile_levels;
  if (!levels) return null;
  const command = { type: 'SetProfileLevels', payload: commandOf(plan, levels) } as const;
  const decision = decideGridCommand(command, plan.before);
  if (decision.outcome === 'rejected') return refused(decision, 'profile_levels');
  plan.events.push(...decision.events);
  if (decision.events.length > 0)
    plan.changes.levels('profile_levels', plan.before.profile_levels ?? [], levels);
  return null;
}

export function planAccountLevels(plan: Plan): Refusal | null {
  const levels = plan.file.account_levels;
  if (!levels) return null;
  const command = { type: 'SetAccountLevels', payload: commandOf(plan, levels) } as const;
  const decision = decideAccountConfiguration(command, plan.before);
  if (decision.outcome === 'rejected') return refused(decision, 'account_levels');
  plan.events.push(...decision.events);
  if (decision.events.length > 0)
    plan.changes.levels('account_levels', (plan.before.accounts ?? noAccounts).levels, levels);
  return null;
}

export function planGrid(plan: Plan): Refusal | null {
  const { grid } = plan.file;
  if (grid === undefined) return null;
  const { ou_id, requested_at } = plan.command;
  const command = { type: 'SetScoringGrid', payload: { ou_id, grid, requested_at } } as const;
  const decision = decideGridCommand(command, plan.before);
  if (decision.outcome === 'rejected') return decision;
  plan.events.push(...decision.events);
  if (decision.events.length > 0) plan.changes.grid(plan.before.grid ?? null, grid);
  return null;
}

function commandOf({ command: { ou_id, requested_at } }: Plan, levels: records.FileLevel[]) {
  return { ou_id, levels, requested_at };
}

function refused(refusal: Refusal, section: records.ConfigurationSection): Refusal {
  return inPlace(refusal, { path: `body.${section}`, words: section }, 'body.levels');
}
