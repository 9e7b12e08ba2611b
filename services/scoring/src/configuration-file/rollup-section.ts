// The roll-up of accounts of a document: how the scores of leads make points of their account. Pure.
import { noAccounts } from '@lead-scoring/scoring-domain';
import { isSameRollUp } from '../accounts/decide-configuration.js';
import type { Plan } from './plan.js';

export function planRollUp(plan: Plan): null {
  const { account_roll_up: wanted } = plan.file;
  const { roll_up: known } = plan.before.accounts ?? noAccounts;
  if (wanted === undefined || isSameRollUp(wanted, known)) return null;
  plan.events.push({ type: 'AccountRollUpSet', payload: { ...plan.stamp, roll_up: wanted } });
  const place = { section: 'account_roll_up', kind: 'roll_up', name: 'roll-up' } as const;
  plan.changes.change(place, known ?? {}, wanted ?? {});
  return null;
}
