// Leads that move to another account as a policy: what a merged account's partition asks of them is decided in their own.
import { policy, type CapabilityDecision, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord } from '@lead-scoring/event-log';
import type { PublishedConfigurations } from '../configuration/published.js';
import type { LeadProjection } from '../leads/capability.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { CurrentRules } from '../scores/current-rules.js';
import { scoreEventRecord } from '../scores/score-events.js';
import { decideMoves } from './move-leads.js';

export interface AccountMovesDependencies {
  /** The source of the leads with their accounts so far. */
  leads: LeadProjection;
  /** Called when a partition is opened; the partitions of a process share the result. */
  configurations: () => PublishedConfigurations;
}

export function accountMovePolicy({ leads, configurations }: AccountMovesDependencies) {
  return policy({
    name: 'account-moves',
    commands: { MoveLeadToAccount: records.moveLeadToAccount },
    events: { LeadContributed: records.leadContributed },
    // The leads store their accounts.
    collections: [],
    open: (scope) => new OpenAccountMoves(scope.opened(leads), new CurrentRules(configurations())),
  });
}

class OpenAccountMoves implements OpenCapability {
  constructor(
    private readonly leads: OpenLeads,
    private readonly rules: CurrentRules,
  ) {}

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as records.MoveLeadToAccount);
    const [rules, leads] = await Promise.all([
      this.rules.load(new Set(commands.map(({ ou_id }) => ou_id))),
      this.leads.load(commands),
    ]);
    const { events, commands: sent } = decideMoves(commands, {
      versionOf: (ouId) => rules.get(ouId)?.version ?? 0,
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
