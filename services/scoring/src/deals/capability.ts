// Deals as an aggregate: what events of leads say of a deal is decided in the deal's own partition, with the rules of its
// OU, and its score is sent to its leads.
import { aggregate, type AggregateShape } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { noDeals, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { compileConditionRules } from '../condition-rules/rules-model.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { commandsOfDecision } from './deal-score-commands.js';
import { decideDeal, type DealRules } from './decide.js';
import { storedDeals } from './documents.js';
import { evolveDeal } from './evolve.js';
import { dealCommands, dealEvents, type DealCommand, type DealEvent } from './messages.js';
import type { Deal } from './state.js';

interface Deals extends AggregateShape {
  state: Deal | null;
  command: DealCommand;
  event: DealEvent;
  /** The rules of the OUs of a batch. */
  context: ReadonlyMap<string, DealRules>;
}

export interface DealsDependencies {
  configurations: () => PublishedConfigurations;
}

/** Deals that a partition keeps in memory. */
const cachedDeals = 2_000;
/** Commands to leads in one transaction: a decision has at most two for each of a deal's 100 leads. */
const maximumCommands = 5_000;

export function dealAggregate({ configurations }: DealsDependencies) {
  return aggregate<Deals>({
    name: 'deals',
    commands: dealCommands,
    events: dealEvents,
    keyOf: ({ payload }) => payload.deal_key,
    initial: () => null,
    contextOf: async (commands) => {
      const loaded = await configurations().load(new Set(commands.map(({ payload }) => payload.ou_id)));
      return new Map([...loaded].map(([ouId, configuration]) => [ouId, rulesOf(configuration)]));
    },
    // Nobody waits for an answer.
    decide: (command, deal, rules) => {
      const ofUnit = rules.get(command.payload.ou_id) ?? noRules;
      const events = decideDeal(command, deal, ofUnit);
      const commands = commandsOfDecision(deal, events, ofUnit.version);
      return { outcome: 'unanswered', events, commands: commands.map(commandRecord) };
    },
    maximumCommands,
    evolve: evolveDeal,
    stored: storedDeals,
    cachedStates: cachedDeals,
  });
}

function commandRecord(payload: records.RecordDealScore) {
  return outgoing(records.recordDealScore, { key: payload.lead_id, payload });
}

/** The compiled rules of a configuration, as long as it is in memory. */
const compiled = new WeakMap<ScoringConfiguration, DealRules>();

function rulesOf(configuration: ScoringConfiguration): DealRules {
  const known = compiled.get(configuration);
  if (known) return known;
  const { version, deals = noDeals, rulesets } = configuration;
  const rules = { version, compiled: compileConditionRules(deals.rules, rulesets) };
  compiled.set(configuration, rules);
  return rules;
}

const noRules: DealRules = { version: 0, compiled: compileConditionRules(new Map(), new Map()) };
