// Deal scores of leads as a policy: the scores that deals send to their leads are decided in the partitions of the leads, a batch at
// a time.
import { policy, type CapabilityDecision, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { IncomingRecord } from '@lead-scoring/event-log';
import type { LeadProjection } from '../leads/capability.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { scoreEventRecord } from '../scores/score-events.js';
import { decideLeadDealScores } from './decide-lead-deal-scores.js';

export interface DealScoresDependencies {
  /** The source of the leads with their deal scores so far. */
  leads: LeadProjection;
}

export function dealScorePolicy({ leads }: DealScoresDependencies) {
  return policy({
    name: 'deal-scores',
    commands: { RecordDealScore: records.recordDealScore },
    events: { ScoreAdjusted: records.scoreAdjusted },
    // The leads store their deal scores.
    collections: [],
    open: (scope) => new OpenDealScores(scope.opened(leads)),
  });
}

class OpenDealScores implements OpenCapability {
  constructor(private readonly leads: OpenLeads) {}

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as records.RecordDealScore);
    const leads = await this.leads.load(commands);
    const events = decideLeadDealScores(
      commands,
      (ouId, leadId) => leads.get(leadName(ouId, leadId)) ?? null,
      this.leads.decidedIn(batch),
    );
    return {
      outcome: 'decided',
      events: events.map((payload) => scoreEventRecord({ type: 'ScoreAdjusted', payload })),
    };
  }
}
