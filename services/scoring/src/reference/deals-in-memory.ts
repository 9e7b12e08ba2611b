// The partitions of deals joined with those of leads, for tests: what they send each other waits until it is delivered, as records on
// a topic do. A crash forgets the deals, so that they are folded anew from the log; what waits is still there.
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { noDeals } from '@lead-scoring/scoring-domain';
import { compileConditionRules } from '../condition-rules/rules-model.js';
import { testConditionRules } from '../condition-rules/tests-model.js';
import { dealAnswer } from '../deals/answers.js';
import { commandsOfDecision } from '../deals/deal-score-commands.js';
import { decideDeal } from '../deals/decide.js';
import { toDeal, toDealDocument } from '../deals/documents.js';
import { evolveDeal } from '../deals/evolve.js';
import { withIgnored, type Ignored } from '../deals/ignored.js';
import { dealCommands, dealEvents, type DealCommand, type DealEvent } from '../deals/messages.js';
import { conditionFieldsOf, type Deal } from '../deals/state.js';
import type { LeadCause } from '../scores/messages.js';
import { keyOf } from '../testing/deal-builders.js';
import type { ScoringInMemory } from './scoring-in-memory.js';
import { check, Ways } from './ways.js';

/** The ends of a way between partitions. */
export interface DealAndLead {
  /** The lead's id. */
  lead: string;
  /** The sender's id of the deal. */
  deal: string;
}

export class DealsInMemory {
  readonly #log: DealEvent[] = [];
  readonly #deals = new Map<string, Deal>();
  #ignored: readonly Ignored[] = [];
  readonly #toDeals = new Ways<DealCommand>();
  readonly #toLeads = new Ways<records.RecordDealScore>();

  /** @param decide the decider: another one in tests of the tests */
  constructor(
    private readonly scoring: ScoringInMemory,
    private readonly decide: typeof decideDeal = decideDeal,
  ) {}

  /** Decides a batch of what happened to leads; what it says of deals waits. */
  take(causes: readonly LeadCause[]): void {
    const { decided, commands, ignored } = this.scoring.decide(causes);
    for (const command of commands) {
      const { lead_id = '', deal_key } = command.payload;
      check(dealCommands[command.type].schema.safeParse(command.payload));
      this.#toDeals.send(`${lead_id}/${deal_key}`, command);
    }
    // On the log, what was ignored follows the decisions of the batch.
    for (const event of decided)
      if (event.type === 'LeadRemoved') this.#ignored = withIgnored(this.#ignored, event);
    for (const payload of ignored) {
      check(records.dealsIgnored.schema.safeParse(payload));
      this.#ignored = withIgnored(this.#ignored, { type: 'DealsIgnored', payload });
    }
  }

  /**
   * A deal decides on what a lead said of it up to a moment; what it tells its leads waits.
   * @param times how often each command comes
   */
  hear({ lead, deal }: DealAndLead, until: string, times = 1): void {
    const { version, deals = noDeals, rulesets } = this.scoring.configuration;
    const rules = { version, compiled: compileConditionRules(deals.rules, rulesets) };
    const commands = this.#toDeals.takeWhile(
      `${lead}/${keyOf(deal)}`,
      (command) => momentOf(command) <= until,
    );
    for (const command of commands.flatMap((one) => Array<DealCommand>(times).fill(one))) {
      const before = this.#deals.get(keyOf(deal)) ?? null;
      const events = this.decide(command, before, rules);
      for (const payload of commandsOfDecision(before, events, version)) {
        check(records.recordDealScore.schema.safeParse(payload));
        this.#toLeads.send(`${payload.lead_id}/${payload.deal_key}`, payload);
      }
      for (const event of events) {
        check(dealEvents[event.type].schema.safeParse(event.payload));
        this.#log.push(event);
        this.#fold(event);
      }
    }
  }

  /**
   * Leads decide, in one batch, on the first commands of each of the ways.
   * @param count of each way
   * @param times how often each command comes
   */
  deliver(ways: readonly DealAndLead[], count = Infinity, times = 1): void {
    const commands = ways.flatMap(({ lead, deal }) => this.#toLeads.take(`${lead}/${keyOf(deal)}`, count));
    this.scoring.adjustDealScores(commands.flatMap((one) => Array<records.RecordDealScore>(times).fill(one)));
  }

  /** Whether the lead was not told all yet. */
  isAwaitedBy(lead: string): boolean {
    return this.#toLeads.names().some((name) => name.startsWith(`${lead}/`));
  }

  /** Forgets the deals, and folds them from what the log holds as JSON. */
  crash(): void {
    this.#deals.clear();
    for (const event of JSON.parse(JSON.stringify(this.#log)) as DealEvent[]) this.#fold(event);
  }

  /** Forgets the deals, and loads what is stored of them. */
  restart(): void {
    for (const [key, deal] of this.#deals)
      this.#deals.set(key, toDeal(toDealDocument(deal, { partition: 0, offset: 0 })));
  }

  /** The ids of all deals. */
  ids(): string[] {
    return [...this.#deals.values()].map(({ id }) => id);
  }

  /** As GET /deals/{id} has it. */
  answer(deal: string): routeDeclarations.Deal {
    return dealAnswer(this.#known(deal), this.scoring.configuration, 10_000);
  }

  /** As POST /deal-scoring/test has it for a known deal. */
  tested(deal: string): number {
    const { deals = noDeals, rulesets } = this.scoring.configuration;
    const fields = conditionFieldsOf(this.#known(deal));
    return testConditionRules({ noun: 'deal', fields }, deals.rules.values(), rulesets, []).points;
  }

  /** As GET /deal-scoring/ignored-deals has them, the oldest first. */
  ignored(): readonly Ignored[] {
    return this.#ignored;
  }

  #known(deal: string): Deal {
    const known = this.#deals.get(keyOf(deal));
    if (!known) throw new Error(`there is no deal ${deal}`);
    return known;
  }

  #fold(event: DealEvent): void {
    const { deal_key } = event.payload;
    const after = evolveDeal(this.#deals.get(deal_key) ?? null, event);
    if (after) this.#deals.set(deal_key, after);
    else this.#deals.delete(deal_key);
  }
}

function momentOf({ type, payload }: DealCommand): string {
  return type === 'RecordDeal' ? payload.decided_at : payload.removed_at;
}
