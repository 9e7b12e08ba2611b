// Decides on changes of an OU's decay rules: pure; time and ids come with the command.
import {
  decayAmountFields,
  decayModes,
  defaultHalfLifeInterval,
  maximumDecays,
  type DecayMode,
  type DecaySettings,
  type records,
} from '@lead-scoring/contracts';
import {
  hasSameSettings,
  isDeletedDecay,
  noDecays,
  settingsOf,
  type DecayRule,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import {
  alreadyDeleted,
  decayNotFoundMessage,
  done,
  limitReached,
  nameTaken,
  rulesetNotFound,
} from '../configuration/decision-model.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import type { DecayCommand } from './messages.js';

export function decideDecayCommand(
  { type, payload }: DecayCommand,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  switch (type) {
    case 'CreateDecay':
      return createDecay(payload, configuration);
    case 'UpdateDecay':
      return updateDecay(payload, configuration);
    case 'DeleteDecay':
      return deleteDecay(payload, configuration);
  }
}

function createDecay(
  { ou_id, decay_id, name, active = true, requested_at, ...wanted }: records.CreateDecay,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { decays = noDecays } = configuration;
  if (decays.rules.has(decay_id)) return done();
  if (isDeletedDecay(decays, decay_id)) return alreadyDeleted('decay rule');
  const refusal =
    nameTaken('decay rule', name, decays.rules.values()) ??
    refusalOfSettings(wanted) ??
    refusalOfRuleset(wanted.ruleset_id, configuration);
  if (refusal) return refusal;
  if (decays.rules.size >= maximumDecays) return tooManyDecays();
  return done({
    type: 'DecayCreated',
    payload: {
      ou_id,
      decay_id,
      name,
      ...newSettings(wanted),
      active,
      version: 1,
      at: requested_at,
    },
  });
}

function updateDecay(
  command: records.UpdateDecay,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const { decays = noDecays } = configuration;
  const known = decays.rules.get(command.decay_id.toLowerCase());
  if (!known) return decayNotFound();
  const settings = changedSettings(known, command);
  const { name = known.name, active = known.active } = command;
  if (name === known.name && active === known.active && hasSameSettings(known, settings)) return done();
  const others = [...decays.rules.values()].filter((rule) => rule !== known);
  const refusal =
    nameTaken('decay rule', name, others) ??
    refusalOfAmount(settings.mode, settings) ??
    (settings.ruleset_id === known.ruleset_id ? null : refusalOfRuleset(settings.ruleset_id, configuration));
  if (refusal) return refusal;
  return done({
    type: 'DecayUpdated',
    payload: {
      ou_id: command.ou_id,
      decay_id: known.id,
      name,
      ...settings,
      active,
      version: known.version + 1,
      at: command.requested_at,
    },
  });
}

function deleteDecay(
  { ou_id, decay_id, requested_at }: records.DeleteDecay,
  { decays = noDecays }: ScoringConfiguration,
): ConfigurationDecision {
  const known = decays.rules.get(decay_id.toLowerCase());
  if (!known) return decayNotFound();
  return done({
    type: 'DecayDeleted',
    payload: { ou_id, decay_id: known.id, version: known.version + 1, at: requested_at },
  });
}

type NewSettings = Pick<
  records.CreateDecay,
  'mode' | 'points' | 'percent' | 'half_life_days' | 'interval_days' | 'ruleset_id' | 'floor'
>;

function intervalOf({ mode, interval_days }: NewSettings): number | undefined {
  return interval_days ?? (mode === 'half_life' ? defaultHalfLifeInterval : undefined);
}

/** The refusal of a new rule whose amount or interval makes no sense. */
export function refusalOfSettings(wanted: NewSettings): Refusal | null {
  const refusal = refusalOfAmount(wanted.mode, wanted);
  if (refusal || intervalOf(wanted) !== undefined) return refusal;
  return invalid(
    'interval_days',
    'must say after how many days each tick comes',
    `The mode ${wanted.mode} needs interval_days.`,
  );
}

/** The settings of a new rule that is not refused, with the defaults. */
export function newSettings(wanted: NewSettings): DecaySettings {
  const { floor = 0 } = wanted;
  return settingsOf({ ...wanted, interval_days: intervalOf(wanted) ?? 1, floor });
}

export function tooManyDecays(): Refusal {
  return limitReached(
    `An organizational unit holds at most ${String(maximumDecays)} decay rules. Delete one that is not needed any more.`,
  );
}

/** The settings after a change. With another mode, the amount of the mode before is dropped. */
function changedSettings(known: DecayRule, change: records.UpdateDecay): DecaySettings {
  const { mode = known.mode, interval_days = known.interval_days, floor = known.floor } = change;
  const { ruleset_id = known.ruleset_id } = change;
  const before = mode === known.mode ? known : {};
  const { points, percent, half_life_days }: Partial<DecaySettings> = { ...before, ...definedIn(change) };
  return settingsOf({
    mode,
    points,
    percent,
    half_life_days,
    interval_days,
    ...(ruleset_id !== null && ruleset_id !== undefined && { ruleset_id }),
    floor,
  });
}

function definedIn({ points, percent, half_life_days }: records.UpdateDecay) {
  return {
    ...(points !== undefined && { points }),
    ...(percent !== undefined && { percent }),
    ...(half_life_days !== undefined && { half_life_days }),
  };
}

type Amounts = Pick<DecaySettings, 'points' | 'percent' | 'half_life_days'>;

/** A rule has the amount of its mode and no other. */
function refusalOfAmount(mode: DecayMode, amounts: Amounts): Refusal | null {
  const own = decayAmountFields[mode];
  if (amounts[own] === undefined)
    return invalid(own, `must say how much the rule takes`, `The mode ${mode} needs ${own}.`);
  for (const other of decayModes) {
    const field = decayAmountFields[other];
    if (field !== own && amounts[field] !== undefined)
      return invalid(
        field,
        `belongs to the mode ${other}`,
        `${field} belongs to the mode ${other}, and the mode is ${mode}. Leave it out, or choose that mode.`,
      );
  }
  return null;
}

/** The refusal of a ruleset whose points cannot fade. */
export function refusalOfRuleset(
  rulesetId: string | undefined,
  { rulesets }: ScoringConfiguration,
): Refusal | null {
  if (rulesetId === undefined) return null;
  const ruleset = rulesets.get(rulesetId);
  if (!ruleset) return rulesetNotFound();
  if (ruleset.score_type === 'engagement') return null;
  return invalid(
    'ruleset_id',
    'must be a ruleset with score_type engagement',
    `The ruleset "${ruleset.name}" holds ${ruleset.score_type} rules. Only engagement points fade: GET /engagement-scoring/rulesets lists their rulesets.`,
  );
}

function invalid(field: string, rule: string, message: string): Refusal {
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message,
    errors: [{ path: `body.${field}`, message: rule }],
  };
}

function decayNotFound(): ConfigurationDecision {
  return { outcome: 'rejected', code: 'decay_not_found', message: decayNotFoundMessage };
}
