// Scores as a policy: ingest's events of leads are decided by the rules of their OUs, a batch at a time, and so are resets.
import {
  policy,
  type CapabilityDecision,
  type OpenCapability,
  type PartitionScope,
  type ReadTable,
} from '@lead-scoring/capability';
import { records, type RecordDeclaration, type TopicName } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  takenOf,
  wasSentAgain,
  type Checkpoint,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
} from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import type { PublishedConfigurations } from '../configuration/published.js';
import { withDeals } from '../deals/decide-batch.js';
import { dealCommands, type DealCommand } from '../deals/messages.js';
import { decidePart, partDecided } from '../event-deletions/decided-part.js';
import type { LeadProjection } from '../leads/capability.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import type { Lead } from '../leads/state.js';
import { withProfiles, type ProfileSources } from '../profile/decide-batch.js';
import type { OpenTypeScores, TypeScores } from '../type-scores/capability.js';
import { CurrentRules } from './current-rules.js';
import { decideLeads } from './decide.js';
import { DecidedRecords } from './decided-records.js';
import { lateDecisions } from './documents.js';
import { scoreRecords, type LeadCause, type LeadEvent } from './messages.js';
import { scoreEventRecord, withContributions, withLevelCrossings } from './score-events.js';
import { decideResets, type ResetDecision, type ResetRules } from './resets.js';
import type { CompiledRules } from './rule-model.js';
import type { DecisionSource } from './source-model.js';

const scoreReads = {
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // Ignored: an alias's later events have the id of the lead to which it is linked, and a dropped repeat gives no points.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    EventsCounted: 'ignored',
    AliasesRefused: 'ignored',
    AliasUnlinked: 'ignored',
    LeadConflicted: 'ignored',
    LeadDivided: 'ignored',
    LeadMetadataPatched: 'taken',
    EventTypeVisibilityChanged: 'ignored',
    EventsOfTypeDeleted: 'taken',
    RecountBegun: 'ignored',
    EventTypesRecounted: 'ignored',
    DeletedEventsCleared: 'taken',
    JobStarted: 'ignored',
    JobAdvanced: 'ignored',
    JobEnded: 'ignored',
    JobCancelled: 'ignored',
  },
} as const satisfies ReadTable;

export interface ScoresDependencies {
  /** The source of the leads' previous scores. */
  leads: LeadProjection;
  /** Knows whether a type has scored events at all. */
  typeScores: TypeScores;
  /** Called when a partition is opened; the partitions of a process share the result. */
  configurations: () => PublishedConfigurations;
  /**
   * The largest number of matches in one batch; a batch with more is split and decided in halves, so that very many matching rules
   * cost time and not memory. Default 200,000.
   */
  maximumMatches?: number | undefined;
}

const defaultMaximumMatches = 200_000;
/** Of an OU without a configuration. */
const noRules: ResetRules = { version: 0, decays: null };

export function scorePolicy(dependencies: ScoresDependencies) {
  return policy({
    name: 'scores',
    reads: scoreReads,
    commands: { ResetScores: records.resetScores },
    events: { ...scoreRecords, EventScoresDeleted: records.eventScoresDeleted },
    collections: [lateDecisions],
    open: (scope) => new OpenScores(scope, dependencies),
  });
}

class OpenScores implements OpenCapability {
  readonly #leads: OpenLeads;
  readonly #typeScores: OpenTypeScores;
  readonly #rules: CurrentRules;
  readonly #decided: DecidedRecords;
  readonly #maximumMatches: number;

  constructor(
    private readonly scope: PartitionScope,
    { leads, typeScores, configurations, maximumMatches = defaultMaximumMatches }: ScoresDependencies,
  ) {
    this.#leads = scope.opened(leads);
    this.#typeScores = scope.opened(typeScores);
    this.#rules = new CurrentRules(configurations());
    this.#decided = new DecidedRecords(scope.readModel, scope.partition);
    this.#maximumMatches = maximumMatches;
  }

  resume({ positions }: Checkpoint): void {
    this.#decided.resume(offsetToNumber(positions['ingest.events'] ?? 0n));
  }

  /** The records of a batch are either all commands or all of ingest.events, because the inputs are decided apart. */
  decide(incoming: readonly IncomingRecord[], batch: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    return incoming[0]?.topic === records.resetScores.topic
      ? this.#decideResets(incoming, batch)
      : this.#decideEvents(incoming);
  }

  async #decideResets(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as records.ResetScores);
    const [rules, leads] = await Promise.all([
      this.#rules.load(new Set(commands.map(({ ou_id }) => ou_id))),
      this.#leads.load(commands),
    ]);
    const decided = this.#leads.decidedIn(batch);
    const decisions = decideResets(
      commands,
      (ouId, leadId) => leads.get(leadName(ouId, leadId)) ?? null,
      (ouId) => rules.get(ouId) ?? noRules,
      decided,
    );
    const events = decisions.flatMap((decision): LeadEvent[] => {
      if (decision.outcome !== 'reset' || !decision.event) return [];
      const { ticks = [], event } = decision;
      return [...ticks, event].map((payload) => ({ type: 'ScoreAdjusted', payload }));
    });
    return {
      outcome: 'decided',
      ...withContributions(withLevelCrossings(events, rules), rules, { leads, decided }),
      replies: incoming.flatMap((to, index) => {
        const decision = decisions[index];
        return decision ? [{ to, reply: resetReply(to.payload as records.ResetScores, decision) }] : [];
      }),
    };
  }

  async #decideEvents(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    // The records of a batch are either all read from ingest.events, or all dead letters that were sent again.
    const isSentAgain = incoming[0] !== undefined && wasSentAgain(incoming[0]);
    const fresh = isSentAgain ? await this.#decided.withoutLate(incoming) : this.#decided.without(incoming);
    const deletion = fresh.find(isOfDeletion);
    if (deletion)
      // What the rest of a batch decides is not stored yet, from where the decisions on the leads are read.
      return incoming.length > 1
        ? { outcome: 'split', reason: 'scores are decided without deleted events' }
        : this.#decideDeletion(deletion, isSentAgain);
    const causes = fresh.flatMap((record) => leadCause(record, isSentAgain) ?? []);
    if (causes.length === 0) return { outcome: 'decided', events: [] };
    const [rules, before] = await Promise.all([
      this.#rules.load(new Set(causes.map(({ payload }) => payload.ou_id))),
      this.#leads.load(causes.map(({ payload }) => payload)),
    ]);
    const rulesOf = (ouId: string) => {
      const ofUnit = rules.get(ouId);
      if (!ofUnit) throw new Error(`the rules of OU ${ouId} were not loaded`);
      return ofUnit;
    };
    const decided = decideLeads(
      causes,
      (ouId, leadId) => before.get(leadName(ouId, leadId)) ?? null,
      rulesOf,
      this.#maximumMatches,
    );
    const deals =
      decided && withDeals(decided, causes, (ouId, leadId) => before.get(leadName(ouId, leadId)) ?? null);
    const events =
      deals && hasProfiles(rules)
        ? withProfiles(deals.decided, causes, profileSources(rules, before), this.#maximumMatches)
        : deals?.decided;
    if (!deals || !events)
      return {
        outcome: 'split',
        reason: `more than ${String(this.#maximumMatches)} rules match in one batch, or very many deals are named in it`,
      };
    const contributed = withContributions(withLevelCrossings(events, rules), rules, {
      causes,
      leads: before,
    });
    return {
      outcome: 'decided',
      events: [
        ...contributed.events,
        ...deals.ignored.map((payload) => scoreEventRecord({ type: 'DealsIgnored', payload })),
      ],
      commands: [...contributed.commands, ...deals.commands.map(dealCommandRecord)],
    };
  }

  /** Decides the mark of a deleted type, or the scores of some leads that had events of the type. */
  async #decideDeletion(record: IncomingRecord, isSentAgain: boolean): Promise<CapabilityDecision> {
    const offset = offsetToNumber(record.offset);
    const source = isSentAgain ? { offset, sent_again: true as const } : { offset };
    if (isRecord(record, records.eventsOfTypeDeleted)) {
      const { deleted_at: at, ...deletion } = record.payload;
      return {
        outcome: 'decided',
        events: [partDecided({ ...deletion, before: offset, part: 0 }, [], { source, at })],
      };
    }
    const part = record.payload as records.DeletedEventsCleared;
    const rules = await this.#rules.load(new Set([part.ou_id]));
    const ofUnit = rules.get(part.ou_id);
    if (!ofUnit) throw new Error(`the rules of OU ${part.ou_id} were not loaded`);
    const { scope } = this;
    const dependencies = { scope, leads: this.#leads, typeScores: this.#typeScores };
    const { decisions, leads } = await decidePart(part, ofUnit, dependencies);
    const events = decisions.map((payload): LeadEvent => ({ type: 'ScoreAdjusted', payload }));
    const decided = withContributions(withLevelCrossings(events, rules), rules, { leads });
    const told = partDecided(part, decisions, { source, at: part.cleared_at });
    return { outcome: 'decided', events: [...decided.events, told], commands: decided.commands };
  }

  fold(events: readonly FoldedRecord[]): Promise<void> {
    // Only what a record of ingest caused names its source; a crossing of levels follows the decision that does.
    return this.#decided.fold(events.map(({ payload }) => (payload as { source?: DecisionSource }).source));
  }

  positionsAccepted(positions: ReadonlyMap<TopicName, number>): Promise<void> {
    return this.#decided.restartAt(positions.get('ingest.events') ?? 0);
  }
}

function hasProfiles(rules: ReadonlyMap<string, CompiledRules>): boolean {
  for (const { profile } of rules.values()) if (profile) return true;
  return false;
}

function profileSources(
  rules: ReadonlyMap<string, CompiledRules>,
  before: ReadonlyMap<string, Lead | null>,
): ProfileSources {
  return {
    profileOf: (ouId) => rules.get(ouId)?.profile ?? null,
    versionOf: (ouId) => rules.get(ouId)?.version ?? 0,
    leadBefore: (ouId, leadId) => before.get(leadName(ouId, leadId)) ?? null,
  };
}

function resetReply({ lead_id }: records.ResetScores, decision: ResetDecision): records.CommandReplied {
  if (decision.outcome === 'lead_not_found')
    return {
      outcome: 'rejected',
      code: 'lead_not_found',
      message: 'No lead of this organizational unit has this id.',
    };
  const { at, previous_score } = decision.reset;
  return { outcome: 'done', result: { lead_id, previous_score, score: 0, score_reset_at: at } };
}

function isOfDeletion(record: IncomingRecord): boolean {
  return isRecord(record, records.eventsOfTypeDeleted) || isRecord(record, records.deletedEventsCleared);
}

function leadCause(record: IncomingRecord, isSentAgain: boolean): LeadCause | null {
  const offset = offsetToNumber(record.offset);
  const source = isSentAgain ? { offset, sent_again: true as const } : { offset };
  const taken = takenOf('ingest.events', scoreReads['ingest.events'], record);
  switch (taken?.type) {
    case 'EventsIngested':
      return { type: 'EventsIngested', payload: taken.payload, source };
    case 'LeadMetadataPatched':
      return { type: 'LeadMetadataPatched', payload: taken.payload, source };
    case 'LeadDeleted':
      return { type: 'LeadDeleted', payload: taken.payload, source };
    case 'EventsOfTypeDeleted':
    case 'DeletedEventsCleared':
    case undefined:
      return null;
  }
}

function dealCommandRecord({ type, payload }: DealCommand): OutgoingRecord {
  const declaration: RecordDeclaration = dealCommands[type];
  return outgoing(declaration, { key: payload.deal_key, payload });
}
