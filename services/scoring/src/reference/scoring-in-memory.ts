// Scoring's deciders and folds joined without servers, for tests: a log in memory, and the states that are folded from it. A crash
// forgets the states, so that they are folded anew from the log, as a restart or a rebuild does.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import {
  emptyConfiguration,
  evolveConfiguration,
  explainDeals,
  explainProfile,
  explainScore,
  explainsScore,
  momentOfNow,
  scoredEventsOf,
  scoreTypeOf,
  type ConfigurationEvent,
  type ExplainedDecision,
  type ScoreDecision,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { contributionsOf } from '../accounts/decide-contributions.js';
import type { ContributionEvent } from '../accounts/messages.js';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { withDeals, type BatchedDeals } from '../deals/decide-batch.js';
import { decideLeadDealScores } from '../deals/decide-lead-deal-scores.js';
import { dealScoreOf } from '../deals/lead-deal-score-model.js';
import { toLead, toLeadDocument } from '../leads/documents.js';
import { foldAdjusted, foldContributed } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { decideTicks } from '../decays/decide-ticks.js';
import { withProfiles } from '../profile/decide-batch.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { decideResets } from '../scores/resets.js';
import { compileRules, type CompiledRules } from '../scores/rule-model.js';
import { ouId } from '../testing/builders.js';

type Recorded = ConfigurationEvent | LeadEvent | ContributionEvent;

/** What the decisions on leads tell their accounts. */
type ToAccounts = records.ContributeToAccount[];

export class ScoringInMemory {
  readonly log: Recorded[] = [];
  configuration: ScoringConfiguration = emptyConfiguration(ouId);
  readonly leads = new Map<string, Lead>();

  /** @param contribute decides what leads contribute to accounts: another one in tests of the tests */
  constructor(private readonly contribute = contributionsOf) {}

  /** @throws Error when the command is rejected */
  command(command: ConfigurationCommand): readonly ConfigurationEvent[] {
    const decision = decideConfiguration(command, this.configuration);
    if (decision.outcome === 'rejected') throw new Error(`${command.type}: ${decision.message}`);
    for (const event of decision.events) this.#append(event);
    return decision.events;
  }

  /**
   * Decides a batch, as the score policy does: with the configuration and the leads from before the batch.
   * @param configuration the one that the leads' partition knows
   * @returns the decisions, and what the events say of deals and contribute to accounts
   */
  decide(
    causes: readonly LeadCause[],
    configuration = this.configuration,
  ): BatchedDeals & { contributions: ToAccounts } {
    const rules = compileRules(configuration);
    const leadBefore = (_: string, leadId: string) => this.leads.get(leadId) ?? null;
    const batch = withDeals(
      decideLeads(causes, leadBefore, () => rules),
      causes,
      leadBefore,
    );
    const decided =
      batch &&
      withProfiles(batch.decided, causes, {
        profileOf: () => rules.profile,
        versionOf: () => rules.version,
        leadBefore,
      });
    if (!batch || !decided) throw new Error('the batch is too large');
    return { ...batch, decided, contributions: this.#appendWithContributions(decided, rules, causes) };
  }

  #appendWithContributions(
    decided: readonly LeadEvent[],
    rules: CompiledRules,
    causes: readonly LeadCause[] = [],
  ): ToAccounts {
    const { events, commands } = this.contribute(decided, causes, {
      contributes: () => rules.accounts !== null,
      versionOf: () => rules.version,
      mergedOf: () => rules.mergedAccounts,
      leadBefore: (_, leadId) => this.leads.get(leadId) ?? null,
    });
    for (const event of [...decided, ...events]) this.#append(event);
    return commands;
  }

  /** Appends that leads moved to other accounts. */
  appendMoves(moves: readonly ContributionEvent[]): void {
    for (const move of moves) this.#append(move);
  }

  /** Decides what deals sent to leads, a batch at a time. */
  adjustDealScores(commands: readonly records.RecordDealScore[]): void {
    const decided = decideLeadDealScores(commands, (_, leadId) => this.leads.get(leadId) ?? null);
    for (const payload of decided) this.#append({ type: 'ScoreAdjusted', payload });
  }

  /** Resets the score of a lead; the same command again changes nothing. */
  reset(command: records.ResetScores): ToAccounts {
    const rules = compileRules(this.configuration);
    const decided = decideResets(
      [command],
      (_, leadId) => this.leads.get(leadId) ?? null,
      () => rules,
    );
    return this.#appendWithContributions(
      decided.flatMap((decision) =>
        decision.outcome === 'reset' && decision.event
          ? adjusted([...(decision.ticks ?? []), decision.event])
          : [],
      ),
      rules,
    );
  }

  /** Appends decisions that were made elsewhere, such as those of a rescoring. */
  adjust(decisions: readonly records.ScoreAdjusted[]): ToAccounts {
    return this.#appendWithContributions(adjusted(decisions), compileRules(this.configuration));
  }

  /** Decides the ticks of decay rules up to a moment, as the decay capability does for leads that are due. */
  runDecay(leadId: string, as_of: string): ToAccounts {
    const lead = this.leads.get(leadId);
    if (!lead) return [];
    const { ou_id } = lead;
    const rules = compileRules(this.configuration);
    const ticks = decideTicks({ ou_id, lead_id: leadId }, lead, rules, { upTo: as_of, decidedAt: as_of });
    return this.#appendWithContributions(adjusted(ticks.events), rules);
  }

  /** Forgets what is in memory, and folds what the log holds as JSON from its beginning. */
  crash(): void {
    this.configuration = emptyConfiguration(ouId);
    this.leads.clear();
    const recorded = JSON.parse(JSON.stringify(this.log)) as Recorded[];
    for (const [offset, event] of recorded.entries()) this.#fold(event, offset);
  }

  /** Forgets the leads in memory, and loads what is stored of them. */
  restart(): void {
    for (const [id, lead] of this.leads) this.leads.set(id, toLead(toLeadDocument(lead, 0), ouId));
  }

  /** @param asked the moments of the two clocks, as GET /lead/{id}/score-explain takes them */
  explain(
    leadId: string,
    { at, known_at }: { at?: string; known_at?: string } = {},
  ): routeDeclarations.ScoreExplanation {
    const lead = this.leads.get(leadId);
    if (!lead) throw new Error(`there is no lead ${leadId}`);
    const decisions = this.#decisionsOn(lead);
    const then = known_at === undefined ? this.configuration : this.#configurationAt(known_at);
    return explainScore({ id: leadId, name: '', score: lead.score }, decisions, this.configuration, then, {
      at: at ?? known_at ?? momentOfNow(decisions, new Date(0)),
      known_at,
      range_hours: 876_000,
    });
  }

  /** Explains the deal score; at a past moment, where one is named. */
  explainDeals(leadId: string, at?: string): routeDeclarations.ScoreExplanation {
    const lead = this.leads.get(leadId);
    if (!lead) throw new Error(`there is no lead ${leadId}`);
    const decisions = this.#adjustmentsOf(lead, 'deal');
    return explainDeals(
      { id: leadId, name: '', score: dealScoreOf(lead.deal_scores) },
      decisions,
      this.configuration,
      this.configuration,
      { at: at ?? momentOfNow(decisions, new Date(0)), range_hours: 876_000 },
    );
  }

  /** Explains the profile score; at a past moment, where one is named. */
  explainProfile(leadId: string, at?: string): routeDeclarations.ScoreExplanation {
    const lead = this.leads.get(leadId);
    if (!lead) throw new Error(`there is no lead ${leadId}`);
    const decisions = this.#adjustmentsOf(lead, 'profile');
    return explainProfile(
      { id: leadId, name: '', score: lead.profile?.score ?? 0 },
      decisions,
      this.configuration,
      this.configuration,
      { at: at ?? momentOfNow(decisions, new Date(0)), range_hours: 876_000 },
    );
  }

  #append(event: Recorded): void {
    this.log.push(event);
    this.#fold(event, this.log.length - 1);
  }

  #fold(event: Recorded, offset: number): void {
    switch (event.type) {
      case 'LeadScored': {
        const { lead_id } = event.payload;
        this.leads.set(lead_id, foldLead(this.leads.get(lead_id) ?? null, event.payload, offset));
        return;
      }
      case 'ScoreAdjusted': {
        const lead = this.leads.get(event.payload.lead_id);
        if (lead) this.leads.set(lead.id, foldAdjusted(lead, event.payload, offset));
        return;
      }
      case 'LeadRemoved':
        this.leads.delete(event.payload.lead_id);
        return;
      case 'LeadContributed': {
        const lead = this.leads.get(event.payload.lead_id);
        if (lead) this.leads.set(lead.id, foldContributed(lead, event.payload, offset));
        return;
      }
      default:
        this.configuration = evolveConfiguration(this.configuration, event);
    }
  }

  /** The decisions that explain the engagement score. */
  #decisionsOn(lead: Lead): ExplainedDecision[] {
    return this.#recordedOn(lead)
      .filter((decision) => scoreTypeOf(decision) === 'engagement')
      .map((decision) => ({ ...decision, scored_events: scoredEventsOf(decision) }));
  }

  #adjustmentsOf(lead: Lead, scoreType: records.ScoreAdjusted['score_type']): records.ScoreAdjusted[] {
    return this.#recordedOn(lead).flatMap((decision) =>
      'scored_events' in decision || decision.score_type !== scoreType ? [] : [decision],
    );
  }

  #recordedOn({ id, first_offset }: Lead): ScoreDecision[] {
    return this.log
      .slice(first_offset)
      .flatMap(({ type, payload }) =>
        (type === 'LeadScored' || type === 'ScoreAdjusted') &&
        payload.lead_id === id &&
        explainsScore(payload)
          ? [payload]
          : [],
      );
  }

  #configurationAt(at: string): ScoringConfiguration {
    return this.log
      .filter(
        (event): event is ConfigurationEvent =>
          event.type !== 'LeadScored' &&
          event.type !== 'ScoreAdjusted' &&
          event.type !== 'LeadRemoved' &&
          event.type !== 'LeadContributed',
      )
      .filter(({ payload }) => payload.at <= at)
      .reduce(evolveConfiguration, emptyConfiguration(ouId));
  }
}

function adjusted(events: readonly records.ScoreAdjusted[]): LeadEvent[] {
  return events.map((payload) => ({ type: 'ScoreAdjusted', payload }));
}
