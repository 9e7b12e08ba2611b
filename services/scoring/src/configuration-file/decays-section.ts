// The decay rules of a document, which name the rulesets whose points fade. Pure.
import { maximumDecays, type records } from '@lead-scoring/contracts';
import {
  hasSameSettings,
  noDecays,
  type DecayRule,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { neededByDecay } from '../configuration/decide-ruleset.js';
import { nameTaken } from '../configuration/decision-model.js';
import type { Refusal } from '../configuration/messages.js';
import { newSettings, refusalOfRuleset, refusalOfSettings, tooManyDecays } from '../decays/decide-rules.js';
import { inPlace, quoted, unknownRuleset, type Plan } from './plan.js';

/** Planned after the rulesets of the document. */
export function planDecays(plan: Plan): Refusal | null {
  const wanted = plan.file.decays;
  const { rules } = plan.before.decays ?? noDecays;
  const after = plan.after();
  if (!wanted) return refusalOfLostRuleset([...rules.values()], plan, after);
  const known = new Map([...rules.values()].map((rule) => [rule.name.toLowerCase(), rule]));
  const named = new Set(wanted.map(({ name }) => name.toLowerCase()));
  for (const [name, rule] of known) if (!named.has(name)) removeDecay(plan, rule);
  const seen = new Set<string>();
  for (const [index, decay] of wanted.entries()) {
    const name = decay.name.toLowerCase();
    const refusal =
      (seen.has(name) ? nameTaken('decay rule', decay.name, [decay]) : null) ??
      planDecay(plan, decay, known.get(name), after);
    if (refusal)
      return inPlace(refusal, {
        path: `body.decays[${String(index)}]`,
        words: `decays, ${quoted(decay.name)}`,
      });
    seen.add(name);
  }
  return wanted.length > maximumDecays ? tooManyDecays() : null;
}

/** A ruleset whose points a decay rule takes is not deleted; where the document has decay rules, they name what there is. */
function refusalOfLostRuleset(
  rules: readonly DecayRule[],
  { before }: Plan,
  { rulesets }: ScoringConfiguration,
): Refusal | null {
  for (const rule of rules) {
    const ruleset = before.rulesets.get(rule.ruleset_id ?? '');
    if (ruleset && !rulesets.has(ruleset.id))
      return inPlace(neededByDecay(rule, ruleset), {
        path: 'body.engagement_rulesets',
        words: 'engagement_rulesets',
      });
  }
  return null;
}

/** The decay rule as it is in a document: without its id, version and author, and without defaults. */
export function fileDecayOf(
  rule: Omit<records.FileDecay, 'ruleset'> & { ruleset_id?: string | undefined },
  { rulesets }: Pick<ScoringConfiguration, 'rulesets'>,
): records.FileDecay {
  const { name, mode, points, percent, half_life_days, interval_days, ruleset_id, floor, active } = rule;
  return {
    name,
    mode,
    ...(points !== undefined && { points }),
    ...(percent !== undefined && { percent }),
    ...(half_life_days !== undefined && { half_life_days }),
    ...(interval_days !== undefined && { interval_days }),
    ...(ruleset_id !== undefined && { ruleset: rulesets.get(ruleset_id)?.name ?? ruleset_id }),
    ...(floor !== undefined && floor !== 0 && { floor }),
    ...(active === false && { active }),
  };
}

function planDecay(
  plan: Plan,
  { name, active = true, ruleset, ...fields }: records.FileDecay,
  present: DecayRule | undefined,
  after: ScoringConfiguration,
): Refusal | null {
  const senseless = refusalOfSettings(fields);
  if (senseless) return senseless;
  const ruleset_id = ruleset === undefined ? undefined : rulesetIdOf(ruleset, after);
  if (ruleset !== undefined && ruleset_id === undefined) return unknownRuleset(ruleset);
  const refusal = refusalOfRuleset(ruleset_id, after);
  if (refusal) return withRulesetPath(refusal);
  const settings = newSettings({ ...fields, ...(ruleset_id !== undefined && { ruleset_id }) });
  const content = { name, ...settings, active };
  if (!present) {
    const decay_id = plan.idOf(`decay:${name.toLowerCase()}`);
    plan.events.push({ type: 'DecayCreated', payload: { ...plan.stamp, decay_id, ...content, version: 1 } });
    plan.changes.add({ ...placeOf(name), action: 'add' });
    return null;
  }
  if (name === present.name && active === present.active && hasSameSettings(present, settings)) return null;
  const { id: decay_id, version } = present;
  plan.events.push({
    type: 'DecayUpdated',
    payload: { ...plan.stamp, decay_id, ...content, version: version + 1 },
  });
  plan.changes.change(
    placeOf(name),
    fileDecayOf(present, plan.before),
    fileDecayOf({ name, ...settings, active }, after),
  );
  return null;
}

function rulesetIdOf(name: string, { rulesets }: ScoringConfiguration): string | undefined {
  const wanted = name.toLowerCase();
  return [...rulesets.values()].find((ruleset) => ruleset.name.toLowerCase() === wanted)?.id;
}

function withRulesetPath(refusal: Refusal): Refusal {
  return {
    ...refusal,
    ...(refusal.errors && {
      errors: refusal.errors.map(({ message }) => ({ path: 'body.ruleset', message })),
    }),
  };
}

function removeDecay(plan: Plan, { id: decay_id, name, version }: DecayRule): void {
  plan.events.push({ type: 'DecayDeleted', payload: { ...plan.stamp, decay_id, version: version + 1 } });
  plan.changes.add({ ...placeOf(name), action: 'remove' });
}

function placeOf(name: string) {
  return { section: 'decays', kind: 'decay', name } as const;
}
