// The events of leads as records, with the crossings of levels and the contributions to accounts that follow them.
import { records, type RecordDeclaration } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { noAccounts } from '@lead-scoring/scoring-domain';
import { leadAccountOf } from '../accounts/contribution-model.js';
import { contributionsOf, type Contributions } from '../accounts/decide-contributions.js';
import { leadName } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import { withCrossings } from '../levels/crossings.js';
import { scoreRecords, type LeadCause, type LeadEvent, type ScoreEvent } from './messages.js';
import type { CompiledRules } from './rule-model.js';

export function withLevelCrossings(
  decided: readonly LeadEvent[],
  rules: ReadonlyMap<string, CompiledRules>,
): readonly ScoreEvent[] {
  if (!hasLevels(rules)) return decided;
  return withCrossings(decided, (ouId, scoreType) => {
    const ofUnit = rules.get(ouId);
    return (scoreType === 'profile' ? ofUnit?.profileLevels : ofUnit?.levels) ?? [];
  });
}

function hasLevels(rules: ReadonlyMap<string, CompiledRules>): boolean {
  for (const { levels, profileLevels } of rules.values())
    if (levels.length > 0 || profileLevels.length > 0) return true;
  return false;
}

export interface DecidedLeads {
  /** What ingest recorded, where that was decided. */
  readonly causes?: readonly LeadCause[];
  /** The leads before the batch. */
  readonly leads: ReadonlyMap<string, Lead | null>;
  /** The leads as the batch has decided on them so far: they take what is contributed now. */
  readonly decided?: Map<string, Lead>;
}

/** The records of decisions: the events, and what their leads contribute to accounts. */
export function withContributions(
  events: readonly ScoreEvent[],
  rules: ReadonlyMap<string, CompiledRules>,
  { causes = [], leads, decided }: DecidedLeads,
): { events: OutgoingRecord[]; commands: OutgoingRecord[] } {
  const own = events.map(scoreEventRecord);
  if (!mayContribute(events, rules)) return { events: own, commands: [] };
  const leadBefore = (ouId: string, leadId: string) => {
    const name = leadName(ouId, leadId);
    return decided?.get(name) ?? leads.get(name) ?? null;
  };
  const contributed = contributionsOf(events, causes, {
    contributes: (ouId) => (rules.get(ouId)?.accounts ?? null) !== null,
    versionOf: (ouId) => rules.get(ouId)?.version ?? 0,
    mergedOf: (ouId) => rules.get(ouId)?.mergedAccounts ?? noAccounts.merged,
    leadBefore,
  });
  for (const { payload } of contributed.events) {
    const lead = leadBefore(payload.ou_id, payload.lead_id);
    if (lead && decided)
      decided.set(leadName(payload.ou_id, payload.lead_id), { ...lead, account: leadAccountOf(payload) });
  }
  const { events: contributions, commands } = contributionRecords(contributed);
  return { events: [...own, ...contributions], commands };
}

/** What leads contribute to accounts, as records: the accounts are told by commands. */
export function contributionRecords({ events, commands }: Contributions) {
  return {
    events: events.map(scoreEventRecord),
    commands: commands.map((payload) =>
      outgoing(records.contributeToAccount, { key: payload.account_id, payload }),
    ),
  };
}

/** Whether an OU of the batch has account scoring, or a lead is removed, which may be in an account from when it had. */
function mayContribute(events: readonly ScoreEvent[], rules: ReadonlyMap<string, CompiledRules>): boolean {
  for (const { accounts } of rules.values()) if (accounts) return true;
  return events.some(({ type }) => type === 'LeadRemoved');
}

export function scoreEventRecord({ type, payload }: ScoreEvent): OutgoingRecord {
  const declaration: RecordDeclaration = scoreRecords[type];
  return outgoing(declaration, { key: payload.lead_id, payload });
}
