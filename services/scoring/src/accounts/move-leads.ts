// Moves leads of merged accounts: pure. A lead that is not in the merged account any more stays where it is, so a command that comes
// again changes nothing.
import type { records } from '@lead-scoring/contracts';
import { leadName } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import { leadAccountOf } from './contribution-model.js';
import type { Contributions } from './decide-contributions.js';
import type { MergedAccounts } from './merge-model.js';

export interface MoveSources {
  versionOf: (ouId: string) => number;
  /** The lead as it is stored; null for one that does not exist. */
  leadBefore: (ouId: string, leadId: string) => Lead | null;
  /** The leads as the batch has decided on them so far: they take what is decided now. */
  decided: Map<string, Lead>;
}

/** What moved leads contribute: no trigger fires, because the points are not new. */
export function decideMoves(
  commands: readonly records.MoveLeadToAccount[],
  { versionOf, leadBefore, decided }: MoveSources,
): Contributions {
  const moves: Contributions = { events: [], commands: [] };
  for (const { ou_id, lead_id, from, to, decided_at } of commands) {
    const name = leadName(ou_id, lead_id);
    const lead = decided.get(name) ?? leadBefore(ou_id, lead_id);
    const known = lead?.account;
    if (!lead || known?.account_id !== from) continue;
    const { account_kind, account_key, named_at } = known;
    const common = { ou_id, lead_id, decided_at };
    const contributed: records.LeadContributed = {
      ...common,
      ...to,
      ...(named_at !== undefined && { named_at }),
      score: lead.score,
      configuration_version: versionOf(ou_id),
    };
    moves.events.push({ type: 'LeadContributed', payload: contributed });
    moves.commands.push(
      {
        ...common,
        account_id: from,
        account_kind,
        account_key,
        score: null,
        fire_triggers: false,
      },
      {
        ...common,
        ...to,
        score: lead.score,
        last_activity_at: lead.last_activity_at,
        fire_triggers: false,
      },
    );
    decided.set(name, { ...lead, account: leadAccountOf(contributed) });
  }
  return moves;
}

/** The commands to leads that came to count in an account after it was merged, by a decision that did not know of the merge yet. */
export function movesOfLate(
  commands: readonly records.ContributeToAccount[],
  mergedOf: (ouId: string) => MergedAccounts | undefined,
): records.MoveLeadToAccount[] {
  return commands.flatMap(({ ou_id, account_id, lead_id, score, decided_at }) => {
    const to = score === null ? undefined : mergedOf(ou_id)?.get(account_id)?.target;
    return to ? [{ ou_id, lead_id, from: account_id, to, decided_at }] : [];
  });
}
