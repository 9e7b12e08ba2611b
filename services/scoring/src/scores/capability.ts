// Scores as a policy: ingest's events of leads are decided by the rules of their OUs, a batch at a time.
import {
  policy,
  type CapabilityDecision,
  type OpenCapability,
  type PartitionScope,
  type ReadTable,
} from '@lead-scoring/capability';
import type { RecordDeclaration, TopicName } from '@lead-scoring/contracts';
import {
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
import type { LeadProjection } from '../leads/capability.js';
import { withCrossings } from '../levels/crossings.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import { CurrentRules } from './current-rules.js';
import { decideLeads } from './decide.js';
import { DecidedRecords } from './decided-records.js';
import { lateDecisions } from './documents.js';
import type { CompiledRules } from './rule-model.js';
import { scoreRecords, type LeadCause, type LeadEvent, type ScoreEvent } from './messages.js';

const scoreReads = {
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // Ignored: an alias's later events have the id of the lead to which it is linked, and a dropped repeat gives no points.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    AliasesRefused: 'ignored',
  },
} as const satisfies ReadTable;

export interface ScoresDependencies {
  /** The source of the leads' previous scores. */
  leads: LeadProjection;
  /** Called when a partition is opened; the partitions of a process share the result. */
  configurations: () => PublishedConfigurations;
  /**
   * The largest number of matches in one batch; a batch with more is split and decided in halves, so that very many matching rules
   * cost time and not memory. Default 200,000.
   */
  maximumMatches?: number | undefined;
}

const defaultMaximumMatches = 200_000;

export function scorePolicy(dependencies: ScoresDependencies) {
  return policy({
    name: 'scores',
    reads: scoreReads,
    events: scoreRecords,
    collections: [lateDecisions],
    open: (scope) => new OpenScores(scope, dependencies),
  });
}

class OpenScores implements OpenCapability {
  readonly #leads: OpenLeads;
  readonly #rules: CurrentRules;
  readonly #decided: DecidedRecords;
  readonly #maximumMatches: number;

  constructor(
    scope: PartitionScope,
    { leads, configurations, maximumMatches = defaultMaximumMatches }: ScoresDependencies,
  ) {
    this.#leads = scope.opened(leads);
    this.#rules = new CurrentRules(configurations());
    this.#decided = new DecidedRecords(scope.readModel, scope.partition);
    this.#maximumMatches = maximumMatches;
  }

  resume({ positions }: Checkpoint): void {
    this.#decided.resume(offsetToNumber(positions['ingest.events'] ?? 0n));
  }

  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    // The records of a batch are either all read from ingest.events, or all dead letters that were sent again.
    const isSentAgain = incoming[0] !== undefined && wasSentAgain(incoming[0]);
    const fresh = isSentAgain ? await this.#decided.withoutLate(incoming) : this.#decided.without(incoming);
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
      (ouId, leadId) => before.get(leadName(ouId, leadId))?.score ?? null,
      rulesOf,
      this.#maximumMatches,
    );
    if (!decided)
      return {
        outcome: 'split',
        reason: `more than ${String(this.#maximumMatches)} rules match in one batch`,
      };
    const events = hasLevels(rules) ? withCrossings(decided, (ouId) => rulesOf(ouId).levels) : decided;
    return { outcome: 'decided', events: events.map(scoreEventRecord) };
  }

  fold(events: readonly FoldedRecord[]): Promise<void> {
    // A crossing of levels names no source: that of its decision is enough.
    return this.#decided.fold(events.map(({ payload }) => (payload as Partial<LeadEvent['payload']>).source));
  }

  positionsAccepted(positions: ReadonlyMap<TopicName, number>): Promise<void> {
    return this.#decided.restartAt(positions.get('ingest.events') ?? 0);
  }
}

function hasLevels(rules: ReadonlyMap<string, CompiledRules>): boolean {
  for (const { levels } of rules.values()) if (levels.length > 0) return true;
  return false;
}

function leadCause(record: IncomingRecord, isSentAgain: boolean): LeadCause | null {
  const source = { offset: offsetToNumber(record.offset), ...(isSentAgain && { sent_again: true as const }) };
  const taken = takenOf('ingest.events', scoreReads['ingest.events'], record);
  switch (taken?.type) {
    case 'EventsIngested':
      return { type: 'EventsIngested', payload: taken.payload, source };
    case 'LeadDeleted':
      return { type: 'LeadDeleted', payload: taken.payload, source };
    case undefined:
      return null;
  }
}

function scoreEventRecord({ type, payload }: ScoreEvent): OutgoingRecord {
  const declaration: RecordDeclaration = scoreRecords[type];
  return outgoing(declaration, { key: payload.lead_id, payload });
}
