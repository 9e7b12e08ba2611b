// Builds scoring's decisions on accounts for tests of account firing, with fixed ids and times and defaults for all fields.
import { accountIdOf, type records } from '@lead-scoring/contracts';
import type { MilestoneTrigger } from '@lead-scoring/scoring-domain/triggers';
import { idOf, milestone, ouId, second } from './firing-builders.js';

export const accountKey = 'acme.com';
export const accountId = accountIdOf(ouId, { account_kind: 'domain', account_key: accountKey });

/** A milestone by account score. */
export const accountMilestone = (
  more: Partial<MilestoneTrigger> = {},
  name = 'account milestone',
): MilestoneTrigger => milestone({ score_type: 'account', ...more }, name);

/** The score of the account's leads changed, decided at a second after `began`. */
export function accountScored(
  previous: number,
  score: number,
  takenAt: number,
  more: Partial<records.AccountScored> = {},
): records.AccountScored {
  return {
    ou_id: ouId,
    account_id: accountId,
    account_kind: 'domain',
    account_key: accountKey,
    previous_score: previous,
    score,
    leads: 1,
    configuration_version: 1,
    contributions: [{ lead_id: idOf('ada'), previous_score: previous, score }],
    roll_up: { method: 'sum' },
    adjustments: score === previous ? [] : [{ reason: 'leads', points: score - previous }],
    decided_at: second(takenAt),
    fire_triggers: true,
    ...more,
  };
}

/** The account's last lead is gone, and the account with it. */
export const accountEmptied = (
  previous: number,
  takenAt: number,
  more: Partial<records.AccountScored> = {},
): records.AccountScored =>
  accountScored(previous, 0, takenAt, {
    leads: 0,
    contributions: [{ lead_id: idOf('ada'), previous_score: previous, score: null }],
    ...more,
  });
