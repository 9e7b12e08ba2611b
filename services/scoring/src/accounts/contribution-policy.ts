// What other partitions and jobs ask leads to contribute to accounts, as policies: it is decided in the partition of each lead.
import { policy, type CapabilityDecision, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { IncomingRecord } from '@lead-scoring/event-log';
import type { PublishedConfigurations } from '../configuration/published.js';
import type { LeadProjection } from '../leads/capability.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import type { Lead } from '../leads/state.js';
import { CurrentRules } from '../scores/current-rules.js';
import type { CompiledRules } from '../scores/rule-model.js';
import { contributionRecords } from '../scores/score-events.js';
import { decideBackfilled } from './backfill-model.js';
import type { Contributions } from './decide-contributions.js';
import { decideMoves } from './move-leads.js';

interface ContributionDependencies {
  /** The source of the leads with their accounts so far. */
  readonly leads: LeadProjection;
  /** Called when a partition is opened; the partitions of a process share the result. */
  readonly configurations: () => PublishedConfigurations;
}

interface ContributionSources {
  readonly rules: ReadonlyMap<string, CompiledRules>;
  /** The lead as it is stored; null for one that does not exist. */
  readonly leadBefore: (ouId: string, leadId: string) => Lead | null;
  /** The leads as the batch has decided on them so far: they take what is decided now. */
  readonly decided: Map<string, Lead>;
}

/** Leads that move to another account: the partition of a merged account asks for it. */
export function accountMovePolicy({ leads, configurations }: ContributionDependencies) {
  return policy({
    name: 'account-moves',
    commands: { MoveLeadToAccount: records.moveLeadToAccount },
    events: { LeadContributed: records.leadContributed },
    // The leads store their accounts.
    collections: [],
    open: (scope) =>
      new OpenContributions<records.MoveLeadToAccount>(
        scope.opened(leads),
        new CurrentRules(configurations()),
        (commands, { rules, ...sources }) =>
          decideMoves(commands, { ...sources, versionOf: (ouId) => rules.get(ouId)?.version ?? 0 }),
      ),
  });
}

/** What a backfill of accounts tells leads. */
export function accountBackfillPolicy({ leads, configurations }: ContributionDependencies) {
  return policy({
    name: 'account-backfill',
    commands: { ContributeLead: records.contributeLead },
    events: { LeadContributed: records.leadContributed },
    // The leads store their accounts.
    collections: [],
    open: (scope) =>
      new OpenContributions<records.ContributeLead>(
        scope.opened(leads),
        new CurrentRules(configurations()),
        (commands, { rules, ...sources }) =>
          decideBackfilled(commands, {
            ...sources,
            rulesOf: (ouId) => {
              const ofUnit = rules.get(ouId);
              return ofUnit?.accounts
                ? { merged: ofUnit.mergedAccounts, configuration_version: ofUnit.version }
                : null;
            },
          }),
      ),
  });
}

class OpenContributions<
  Command extends { readonly ou_id: string; readonly lead_id: string },
> implements OpenCapability {
  constructor(
    private readonly leads: OpenLeads,
    private readonly rules: CurrentRules,
    private readonly decideCommands: (
      commands: readonly Command[],
      sources: ContributionSources,
    ) => Contributions,
  ) {}

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as Command);
    const [rules, leads] = await Promise.all([
      this.rules.load(new Set(commands.map(({ ou_id }) => ou_id))),
      this.leads.load(commands),
    ]);
    const contributions = this.decideCommands(commands, {
      rules,
      leadBefore: (ouId, leadId) => leads.get(leadName(ouId, leadId)) ?? null,
      decided: this.leads.decidedIn(batch),
    });
    return { outcome: 'decided', ...contributionRecords(contributions) };
  }
}
