// What a backfill of levels asks to be told, as a policy: it is decided in the partition of each lead, by its score and the levels of then.
import { policy, type CapabilityDecision, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import type { PublishedConfigurations } from '../configuration/published.js';
import type { LeadProjection } from '../leads/capability.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { levelToTell } from './backfill-model.js';

interface TellingDependencies {
  /** The source of the leads. */
  readonly leads: LeadProjection;
  /** Called when a partition is opened; the partitions of a process share the result. */
  readonly configurations: () => PublishedConfigurations;
}

export function levelTellingPolicy({ leads, configurations }: TellingDependencies) {
  return policy({
    name: 'level-telling',
    commands: { TellLevel: records.tellLevel },
    events: { LeadLevelChanged: records.leadLevelChanged },
    // The levels of leads follow from their scores.
    collections: [],
    open: (scope) => new OpenTelling(scope.opened(leads), configurations()),
  });
}

class OpenTelling implements OpenCapability {
  constructor(
    private readonly leads: OpenLeads,
    private readonly configurations: PublishedConfigurations,
  ) {}

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as records.TellLevel);
    const [configurations, leads] = await Promise.all([
      this.configurations.load(new Set(commands.map(({ ou_id }) => ou_id))),
      this.leads.load(commands),
    ]);
    const decided = this.leads.decidedIn(batch);
    const events = commands.flatMap((command): OutgoingRecord[] => {
      const name = leadName(command.ou_id, command.lead_id);
      const configuration = configurations.get(command.ou_id);
      const lead = decided.get(name) ?? leads.get(name) ?? null;
      const payload = configuration && levelToTell(command, lead, configuration);
      return payload ? [outgoing(records.leadLevelChanged, { key: payload.lead_id, payload })] : [];
    });
    return { outcome: 'decided', events, commands: [] };
  }
}
