// What a backfill of accounts tells leads, as a policy: it is decided in the partition of each lead.
import { policy, type CapabilityDecision, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord } from '@lead-scoring/event-log';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { CurrentRules } from '../scores/current-rules.js';
import { scoreEventRecord } from '../scores/score-events.js';
import type { AccountMovesDependencies } from './account-moves.js';
import { decideBackfilled } from './backfill-model.js';

export function accountBackfillPolicy({ leads, configurations }: AccountMovesDependencies) {
  return policy({
    name: 'account-backfill',
    commands: { ContributeLead: records.contributeLead },
    events: { LeadContributed: records.leadContributed },
    // The leads store their accounts.
    collections: [],
    open: (scope) => new OpenAccountBackfill(scope.opened(leads), new CurrentRules(configurations())),
  });
}

class OpenAccountBackfill implements OpenCapability {
  constructor(
    private readonly leads: OpenLeads,
    private readonly rules: CurrentRules,
  ) {}

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as records.ContributeLead);
    const [rules, leads] = await Promise.all([
      this.rules.load(new Set(commands.map(({ ou_id }) => ou_id))),
      this.leads.load(commands),
    ]);
    const { events, commands: sent } = decideBackfilled(commands, {
      rulesOf: (ouId) => {
        const ofUnit = rules.get(ouId);
        return ofUnit?.accounts
          ? { merged: ofUnit.mergedAccounts, configuration_version: ofUnit.version }
          : null;
      },
      leadBefore: (ouId, leadId) => leads.get(leadName(ouId, leadId)) ?? null,
      decided: this.leads.decidedIn(batch),
    });
    return {
      outcome: 'decided',
      events: events.map(scoreEventRecord),
      commands: sent.map((payload) =>
        outgoing(records.contributeToAccount, { key: payload.account_id, payload }),
      ),
    };
  }
}
