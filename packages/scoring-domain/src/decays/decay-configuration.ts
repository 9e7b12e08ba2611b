// Decay rules in an OU's configuration, and their fold. Pure.
import {
  shownActor,
  type DecayPeriod,
  type DecaySettings,
  type records,
  type routeDeclarations,
} from '@lead-scoring/contracts';

export type DecayRule = routeDeclarations.Decay;

/** Settings that a rule had until it was changed, paused or deleted, and the name that it had then. */
export interface FormerDecay extends DecayPeriod {
  readonly name: string;
  readonly until: string;
}

export interface DecayConfiguration {
  /** The version of the configuration in which the ticks of a rule changed last. */
  readonly version: number;
  /** By id, in the order of their creation. */
  readonly rules: ReadonlyMap<string, DecayRule>;
  /** The latest ended last. Ticks of before that nobody has decided yet follow from them. */
  readonly former: readonly FormerDecay[];
}

export type DecayEvent =
  | { type: 'DecayCreated'; payload: records.DecayCreated }
  | { type: 'DecayUpdated'; payload: records.DecayUpdated }
  | { type: 'DecayDeleted'; payload: records.DecayDeleted };

export const noDecays: DecayConfiguration = { version: 0, rules: new Map(), former: [] };

/** Periods that are kept. Ticks are decided within seconds, so that only those of the last changes matter. */
const maximumFormer = 50;

/** @param version of the configuration with the event in it */
export function evolveDecays(
  decays: DecayConfiguration,
  event: DecayEvent,
  version: number,
): DecayConfiguration {
  const { decay_id, at } = event.payload;
  const known = decays.rules.get(decay_id);
  const rules = new Map(decays.rules);
  if (event.type === 'DecayDeleted') {
    if (!known) return decays;
    rules.delete(decay_id);
    // A paused rule leaves a period without ticks: its id and its name stay known.
    return {
      version,
      rules,
      former: withFormer(decays.former, known, known.active ? known.counts_from : at, at),
    };
  }
  const { name, active, version: ruleVersion, actor } = event.payload;
  const settings = settingsOf(event.payload);
  const keepsTicks = known?.active === active && hasSameSettings(known, settings);
  rules.set(decay_id, {
    id: decay_id,
    name,
    ...settings,
    active,
    version: ruleVersion,
    counts_from: keepsTicks ? known.counts_from : at,
    created_at: known?.created_at ?? at,
    updated_at: at,
    changed_by: shownActor(actor),
  });
  if (keepsTicks) return { ...decays, rules };
  const former = known?.active ? withFormer(decays.former, known, known.counts_from, at) : decays.former;
  return { version, rules, former };
}

/** The settings in which rules of all modes are compared, without the others of the resource. */
export function settingsOf(rule: DecaySettings): DecaySettings {
  const { mode, points, percent, half_life_days, interval_days, ruleset_id, floor } = rule;
  return {
    mode,
    ...(points !== undefined && { points }),
    ...(percent !== undefined && { percent }),
    ...(half_life_days !== undefined && { half_life_days }),
    interval_days,
    ...(ruleset_id !== undefined && { ruleset_id }),
    floor,
  };
}

export function hasSameSettings(one: DecaySettings, other: DecaySettings): boolean {
  return JSON.stringify(settingsOf(one)) === JSON.stringify(settingsOf(other));
}

/** The periods in which rules have or had ticks. Two ticks of one moment are in the order of the rules' ids, also of ended rules. */
export function periodsOf({ rules, former }: DecayConfiguration): DecayPeriod[] {
  const ended = former.map((period): DecayPeriod => {
    const { rule_id, rule_version, since, until } = period;
    return { rule_id, rule_version, ...settingsOf(period), since, until };
  });
  const current = [...rules.values()].filter(({ active }) => active);
  return [
    ...ended,
    ...current.map((rule): DecayPeriod => ({
      rule_id: rule.id,
      rule_version: rule.version,
      ...settingsOf(rule),
      since: rule.counts_from,
    })),
  ].sort((one, other) => (one.rule_id < other.rule_id ? -1 : one.rule_id > other.rule_id ? 1 : 0));
}

/** The name of a decay rule, as far as it is known. */
export function decayNameOf(decays: DecayConfiguration | undefined, ruleId: string): string | undefined {
  const rule = decays?.rules.get(ruleId) ?? decays?.former.findLast(({ rule_id }) => rule_id === ruleId);
  return rule?.name;
}

/** Whether the rule was deleted, as far as that is known. */
export function isDeletedDecay({ rules, former }: DecayConfiguration, ruleId: string): boolean {
  return !rules.has(ruleId) && former.some(({ rule_id }) => rule_id === ruleId);
}

function withFormer(
  former: readonly FormerDecay[],
  rule: DecayRule,
  since: string,
  until: string,
): readonly FormerDecay[] {
  const { id: rule_id, version: rule_version, name } = rule;
  return [...former, { rule_id, rule_version, name, ...settingsOf(rule), since, until }].slice(
    -maximumFormer,
  );
}
