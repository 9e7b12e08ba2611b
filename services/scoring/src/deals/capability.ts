// Deals as an aggregate: what events of leads say of a deal is decided in the deal's own partition, with the rules of its OU.
import { aggregate, type AggregateShape } from '@lead-scoring/capability';
import { noDeals, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { compileConditionRules } from '../condition-rules/rules-model.js';
import type { PublishedConfigurations } from '../configuration/published.js';
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
    decide: (command, deal, rules) => ({
      outcome: 'unanswered',
      events: decideDeal(command, deal, rules.get(command.payload.ou_id) ?? noRules),
    }),
    evolve: evolveDeal,
    stored: storedDeals,
    cachedStates: cachedDeals,
  });
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
