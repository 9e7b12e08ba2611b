// The buying committee of an account, from the documents of its leads.
import { committeeLimits, routes } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { noAccounts } from '@lead-scoring/scoring-domain';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { accountIdMeant } from '../accounts/merge-model.js';
import { accountNameOf } from '../accounts/state.js';
import { findAccount, highestLeads } from '../accounts/stored-accounts.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { committeeOf } from './committee-model.js';

export interface CommitteeDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
  /** The clock, from which leads are silent. */
  now: () => Date;
}

const dayMs = 86_400_000;

export function committeeQueries({ readModel, configurations, now }: CommitteeDependencies): BoundQuery[] {
  return [
    bindQuery(routes.getBuyingCommittee, async ({ query, context: { ouId } }) => {
      const { account_id, silent_days } = query;
      const { levels, accounts: { merged } = noAccounts } = await loadOne(configurations, ouId);
      const account = await findAccount(readModel, ouId, accountIdMeant(account_id, merged));
      const highest = await highestLeads(readModel, account, committeeLimits.leads);
      const people = highest.map(({ lead_id, lead }) => ({
        lead_id,
        name: lead.name,
        title: lead.fields.title?.value ?? null,
        score: lead.score,
        last_activity_at: lead.last_activity_at,
      }));
      const silentBefore = new Date(now().getTime() - silent_days * dayMs).toISOString();
      return {
        account_id: account.id,
        name: accountNameOf(account),
        account_kind: account.account_kind,
        account_key: account.account_key,
        leads: account.leads,
        leads_considered: people.length,
        silent_days,
        ...committeeOf(people, { levels, silentBefore }),
      };
    }),
  ];
}
