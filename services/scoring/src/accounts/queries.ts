// Lists of account rulesets and rules, the roll-up, tests of account rules, and accounts with the reasons for their scores.
import { routeDeclarations, routes, type AccountReference, type JsonObject } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { defaultRollUp, levelNamed, noAccounts } from '@lead-scoring/scoring-domain';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { testConditionRules } from '../condition-rules/tests-model.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne, pageOf } from '../configuration/queries.js';
import { rulesetsOf } from '../configuration/state.js';
import { leadOfKey } from '../keys.js';
import { everyLevel } from '../leads/score-range.js';
import { accountAnswer, conditionFieldsOf, reasonsOf } from './answers.js';
import type { Account } from './state.js';
import { listAccounts } from './list-accounts.js';
import { accountIdMeant } from './merge-model.js';
import { countDeals, findAccount, highestLeads } from './stored-accounts.js';

export interface AccountQueryDependencies {
  readModel: ReadModel;
  configurations: PublishedConfigurations;
}

export function accountQueries({ readModel, configurations }: AccountQueryDependencies): BoundQuery[] {
  return [
    ...accountConfigurationQueries(configurations),
    bindQuery(routeDeclarations.planAccountMerge, async ({ params, query, context: { ouId } }) => {
      const { accounts: { merged } = noAccounts } = await loadOne(configurations, ouId);
      const known = merged.get(params.id.toLowerCase());
      const targetId = accountIdMeant(query.target_id, merged);
      if (known?.target.account_id === targetId) return known;
      const target = await findAccount(readModel, ouId, targetId);
      if (known) return { ...known, target: referenceOf(target) };
      const source = await findAccount(readModel, ouId, params.id);
      return {
        source: referenceOf(source),
        target: referenceOf(target),
        leads_reassigned: source.leads,
        deals_reassigned: await countDeals(readModel, source),
      };
    }),
    bindQuery(routes.testAccount, async ({ body, context }) => {
      const { accounts = noAccounts, rulesets } = await loadOne(configurations, context.ouId);
      const ofAccount =
        body.account_id === undefined
          ? {}
          : conditionFieldsOf(
              await findAccount(readModel, context.ouId, accountIdMeant(body.account_id, accounts.merged)),
            );
      const account: JsonObject = { ...ofAccount, ...body.account };
      return {
        ...testConditionRules(
          { noun: 'account', fields: account },
          accounts.rules.values(),
          rulesets,
          body.rules ?? [],
        ),
        account: account as routeDeclarations.AccountTest['account'],
      };
    }),
    bindQuery(routes.listAccounts, async ({ query, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const { levels } = configuration.accounts ?? noAccounts;
      const page = await listAccounts(readModel, context.ouId, query, boundsOf(levels, query.level));
      return {
        ...page,
        data: page.data.map((document) =>
          accountAnswer({ ...document, id: leadOfKey(document._id) }, levels),
        ),
      };
    }),
    bindQuery(routes.getAccount, async ({ params, context }) => {
      const configuration = await loadOne(configurations, context.ouId);
      const { merged } = configuration.accounts ?? noAccounts;
      const account = await findAccount(readModel, context.ouId, accountIdMeant(params.id, merged));
      const highest = await highestLeads(readModel, account, routeDeclarations.shownAccountLeads);
      return {
        ...reasonsOf(account, configuration),
        top_leads: highest.map(({ lead_id, lead, score }) => ({ lead_id, name: lead.name, score })),
      };
    }),
  ];
}

function accountConfigurationQueries(configurations: PublishedConfigurations): BoundQuery[] {
  return [
    bindQuery(routes.listAccountRulesets, async ({ query, context }) =>
      pageOf(rulesetsOf(await loadOne(configurations, context.ouId), 'account'), query),
    ),
    bindQuery(routes.listAccountRules, async ({ query, context }) => {
      const { accounts = noAccounts } = await loadOne(configurations, context.ouId);
      const ruleset = query.ruleset_id?.toLowerCase();
      const rules = [...accounts.rules.values()];
      return pageOf(
        rules.filter(({ ruleset_id }) => ruleset === undefined || ruleset_id === ruleset),
        query,
      );
    }),
    bindQuery(routes.listAccountLevels, async ({ context }) => {
      const { accounts = noAccounts } = await loadOne(configurations, context.ouId);
      return { levels: [...accounts.levels] };
    }),
    bindQuery(routes.getAccountRollUp, async ({ context }) => {
      const { accounts = noAccounts } = await loadOne(configurations, context.ouId);
      return { roll_up: accounts.roll_up ?? defaultRollUp };
    }),
  ];
}

/** @throws ProblemError 404 `level_not_found` */
function boundsOf(levels: readonly routeDeclarations.EngagementLevel[], idOrName: string | undefined) {
  if (idOrName === undefined) return everyLevel;
  const level = levelNamed(levels, idOrName);
  if (level) return level;
  throw new ProblemError(
    404,
    'level_not_found',
    'No account level of this organizational unit has this id or name. GET /account-scoring/levels lists them.',
  );
}

function referenceOf({ id, account_kind, account_key }: Account): AccountReference {
  return { account_id: id, account_kind, account_key };
}
