// How scores that were computed anew come into force, as a policy: what has happened since is taken into account, and all leads of a group
// change in one batch, which is one transaction on the log.
import {
  findJob,
  policy,
  type CapabilityDecision,
  type Job,
  type OpenCapability,
  type PartitionScope,
} from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  Turns,
  type EventLog,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
} from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { PublishedConfigurations } from '../configuration/published.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { isOvertaken } from '../event-deletions/overtaken.js';
import type { LeadProjection } from '../leads/capability.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { CurrentRules } from '../scores/current-rules.js';
import { withContributions, withLevelCrossings } from '../scores/score-events.js';
import type { LeadEvent } from '../scores/messages.js';
import type { CompiledRules } from '../scores/rule-model.js';
import { leadGroup } from '../what-if/history.js';
import { configurationAt } from '../what-if/replay-group.js';
import { decideActivation } from './activation-model.js';
import {
  activeEpochs,
  findPrepared,
  isActive,
  preparedGroups,
  preparedLeads,
  storeActive,
  unpackedLeads,
} from './documents.js';
import { PreparedGroup } from './prepared-model.js';
import type { PreparedLead } from './state-model.js';
import { LeadTails, readTail, scoringEnd, type Tail } from './tail.js';

export interface EpochDependencies {
  /** The source of the leads as they are recorded. */
  readonly leads: LeadProjection;
  /** Called when a partition is opened. */
  readonly configurations: () => PublishedConfigurations;
  readonly log: () => EventLog;
  readonly maximumTail?: number | undefined;
}

/** Records since the computed scores that one batch takes into account; with more, the job has to come nearer first. */
export const defaultMaximumTail = 20_000;
/** Documents of prepared leads whose leads are decided in one piece. */
const documentsPerPiece = 5;

export function scoringEpochPolicy(dependencies: EpochDependencies) {
  return policy({
    name: 'scoring-epochs',
    commands: { ActivateScoringEpoch: records.activateScoringEpoch },
    events: {
      ScoreAdjusted: records.scoreAdjusted,
      LeadLevelChanged: records.leadLevelChanged,
      LeadContributed: records.leadContributed,
      ScoringEpochActivated: records.scoringEpochActivated,
    },
    collections: [activeEpochs],
    published: [preparedGroups, preparedLeads],
    open: (scope) => new OpenEpochs(scope, dependencies),
  });
}

const nothing: CapabilityDecision = { outcome: 'decided', events: [] };

class OpenEpochs implements OpenCapability {
  readonly #leads: OpenLeads;
  readonly #rules: CurrentRules;

  constructor(
    private readonly scope: PartitionScope,
    private readonly dependencies: EpochDependencies,
  ) {
    this.#leads = scope.opened(dependencies.leads);
    this.#rules = new CurrentRules(dependencies.configurations());
  }

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    // What the rest of a batch decides is not on the log yet, from which it is taken into account.
    if (batch.length > 1) return { outcome: 'split', reason: 'new scores of many leads come into force' };
    const command = incoming[0]?.payload as records.ActivateScoringEpoch;
    if (!(await this.#isWanted(command))) return nothing;
    const prepared = await findPrepared(this.scope.readModel, command, command);
    const tail = prepared && (await this.#tailOf(command));
    if (!prepared || !tail) return nothing;
    const configuration = await configurationAt(
      { ou_id: command.ou_id, version: command.configuration_version },
      { configurations: this.dependencies.configurations, scope: this.scope },
    );
    return this.#activation(command, configuration, { prepared, tail });
  }

  /** Not for a group that is in force, nor for a job that has ended, or has counted deleted events, while the command waited. */
  async #isWanted(command: records.ActivateScoringEpoch): Promise<boolean> {
    const { readModel } = this.scope;
    const job = await findJob(readModel, command.ou_id, command.job_id);
    if (job?.status !== 'running' || (await isActive(readModel, command))) return false;
    return !(await isOvertaken(readModel, job as Job<records.RescoringWork>));
  }

  /** null: it is too long. */
  async #tailOf({
    ou_id,
    group,
    groups,
    scoring_end: from,
  }: records.ActivateScoringEpoch): Promise<Tail | null> {
    const { partition } = this.scope;
    const { maximumTail = defaultMaximumTail } = this.dependencies;
    const log = this.dependencies.log();
    const to = await scoringEnd(log, partition);
    if (to - from > maximumTail) return null;
    const { signal } = new AbortController();
    const deleted = (await readDeletedTypes(this.scope.readModel, ou_id)).get(partition);
    const part = { ouId: ou_id, partition, leads: leadGroup(group, groups), deleted, signal };
    return readTail(log, part, { from, to });
  }

  /** Decides some leads after the others, and gives way in between: reads of the partition do not wait for all of them. */
  async #activation(
    command: records.ActivateScoringEpoch,
    configuration: ScoringConfiguration,
    { prepared, tail }: { readonly prepared: readonly Uint8Array[]; readonly tail: Tail },
  ): Promise<CapabilityDecision> {
    const at = momentOf(command, tail);
    const tails = new LeadTails(tail);
    const turns = new Turns();
    const events: OutgoingRecord[] = [];
    const commands: OutgoingRecord[] = [];
    let changed = 0;
    const decide = async (leads: readonly PreparedLead[], since: Tail) => {
      const group = new PreparedGroup(command.ou_id, configuration, command, leads);
      group.take(since.happenings, since.decisions);
      const decided = await this.#decideGroup({ ...command, at }, configuration, group);
      events.push(...decided.events);
      commands.push(...decided.commands);
      changed += decided.changed;
      await turns.giveWay();
    };
    for (let from = 0; from < prepared.length; from += documentsPerPiece) {
      const leads: PreparedLead[] = [];
      for (const packed of prepared.slice(from, from + documentsPerPiece)) {
        leads.push(...unpackedLeads(packed));
        await turns.giveWay();
      }
      await decide(leads, tails.take(leads.map(({ lead_id }) => lead_id)));
    }
    await decide([], tails.rest());
    const activated = outgoing(records.scoringEpochActivated, {
      key: String(command.partition),
      payload: { ...epochOf(command), leads: changed, at },
    });
    return { outcome: 'decided', events: [...events, activated], commands };
  }

  async #decideGroup(
    activation: records.ActivateScoringEpoch & { readonly at: string },
    configuration: ScoringConfiguration,
    group: PreparedGroup,
  ): Promise<{ events: OutgoingRecord[]; commands: OutgoingRecord[]; changed: number }> {
    const { ou_id } = activation;
    const [rules, leads] = await Promise.all([
      this.#rules.load(new Set([ou_id])),
      this.#leads.load(Array.from(group.leadIds, (lead_id) => ({ ou_id, lead_id }))),
    ]);
    const decided = decideActivation(
      group,
      (leadId) => leads.get(leadName(ou_id, leadId)) ?? null,
      activation,
      { configuration, live: rulesIn(rules, ou_id) },
    );
    const events = decided.map((payload): LeadEvent => ({ type: 'ScoreAdjusted', payload }));
    const changed = new Set(decided.map(({ lead_id }) => lead_id)).size;
    return { ...withContributions(withLevelCrossings(events, rules), rules, { leads }), changed };
  }

  async fold(events: readonly FoldedRecord[]): Promise<void> {
    const activated = events.flatMap((event) =>
      isRecord(event, records.scoringEpochActivated) ? [event.payload] : [],
    );
    if (activated.length > 0) await storeActive(this.scope.readModel, activated);
  }
}

/** What the command and the event have in common. */
function epochOf({
  ou_id,
  job_id,
  partition,
  group,
  groups,
  score_type,
  ruleset_id,
  configuration_version,
  fire_triggers,
}: records.ActivateScoringEpoch): Omit<records.ScoringEpochActivated, 'leads' | 'at'> {
  return {
    ...{ ou_id, job_id, partition, group, groups, score_type },
    ...(ruleset_id !== undefined && { ruleset_id }),
    ...{ configuration_version, fire_triggers },
  };
}

function rulesIn(rules: ReadonlyMap<string, CompiledRules>, ouId: string): CompiledRules {
  const found = rules.get(ouId);
  if (!found) throw new Error(`the rules of OU ${ouId} were not loaded`);
  return found;
}

/** The clock of the machine that has sent the command may be behind that of one that has decided. */
function momentOf({ requested_at }: records.ActivateScoringEpoch, { decisions }: Tail): string {
  return decisions.reduce((latest, { type, payload }) => {
    const at = type === 'LeadRemoved' ? payload.removed_at : payload.decided_at;
    return at > latest ? at : latest;
  }, requested_at);
}
