// The account firing capability: decisions on accounts make triggers by account score fire, once for an account.
import { policy, type PartitionScope } from '@lead-scoring/capability';
import { accountFiringCollections } from './documents.js';
import { accountFiringReads, accountFiringRecords } from './messages.js';
import { AccountFiringPartition, type AccountFiringOptions } from './partition.js';

export function accountFiringCapability(options: AccountFiringOptions) {
  return policy({
    name: 'account-firing',
    reads: accountFiringReads,
    events: accountFiringRecords,
    collections: accountFiringCollections,
    open: (scope: PartitionScope) => new AccountFiringPartition(scope, options),
  });
}
