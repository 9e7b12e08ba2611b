// Accounts as a policy: what leads contribute to accounts is decided where the account is, a batch at a time.
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
}

export function accountPolicy({ configurations }: AccountsDependencies) {
  return policy({
    name: 'accounts',
    commands: { ContributeToAccount: records.contributeToAccount },
    events: { AccountScored: records.accountScored },
    collections: [accountLeads, accounts, accountStatistics],
    open: (scope) => new OpenAccounts(scope, new CurrentRules(configurations())),
  });
}
