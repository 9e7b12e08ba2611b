// Accounts as a policy: what leads contribute to accounts is decided where the account is, a batch at a time; and the leads of a
// merged account are told where they belong now, in bounded steps.
import { policy } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { PublishedConfigurations } from '../configuration/published.js';
import { CurrentRules } from '../scores/current-rules.js';
import { accountStatistics } from './account-statistics.js';
import { accountLeads, accounts } from './documents.js';
import { OpenAccounts } from './open-accounts.js';

export interface AccountsDependencies {
  /** Called when a partition is opened; the partitions of a process share the result. */
  configurations: () => PublishedConfigurations;
  /** Called where a step of moving leads was given up. */
  onError: (error: unknown) => void;
}

export function accountPolicy({ configurations, onError }: AccountsDependencies) {
  return policy({
    name: 'accounts',
    commands: {
      ContributeToAccount: records.contributeToAccount,
      MoveAccountLeads: records.moveAccountLeads,
    },
    events: { AccountScored: records.accountScored },
    collections: [accountLeads, accounts, accountStatistics],
    open: (scope) => new OpenAccounts(scope, new CurrentRules(configurations()), onError),
  });
}
