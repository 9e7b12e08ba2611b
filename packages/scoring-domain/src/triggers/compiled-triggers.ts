// A configuration compiled for evaluation: triggers by event type and milestones by threshold, so that an event is evaluated
// only on triggers of its type and milestones that its score crosses. Compiled once per version of a configuration and list of
// levels.
import {
  compileFilters,
  eventTypeKey,
  type AnyScoreType,
  type LeadFilterGroup,
  type MetadataTest,
} from '@lead-scoring/contracts';
import {
  type MilestoneTrigger,
  type Triggers,
  type SequenceTrigger,
  type SurgeTrigger,
  type Trigger,
} from './trigger.js';
import type { ScoringConfiguration } from '../configuration.js';
import type { Levels } from '../level-history.js';
import { levelsOfScore, type ScoreLevels } from '../levels.js';
import { lineOf, type Line } from './line.js';
import { isCrossed, rearmBoundOf } from './milestone.js';

export interface CompiledStep {
  readonly step: number;
  readonly filters: MetadataTest;
}

export interface CompiledMilestone {
  readonly trigger: MilestoneTrigger;
  readonly line: Line;
  /** The levels of its score, which the line comes from. */
  readonly levels: Levels;
  /** What leads must match; null: its filter is gone. Absent: the milestone is of all leads. */
  readonly filter?: FilterInForce | null;
}

/** A saved filter, and the configuration that says what its levels are. */
export interface FilterInForce {
  readonly conditions: LeadFilterGroup;
  readonly configuration: Pick<ScoringConfiguration, 'levels' | 'profile_levels' | 'grid'>;
}

/** What triggers name of scoring's configuration: the levels that counted in a decision, and the filters of now. */
export interface NamedScoring extends ScoreLevels {
  /** Absent where no trigger has a filter. */
  readonly filters?: ScoringConfiguration;
}

/** The active triggers that events of one type concern, in the order of their creation. */
export interface TriggersOfType {
  /** Milestones that a change of the score crosses: found by binary search, so the others cost nothing. */
  readonly crossed: (before: number, after: number) => readonly CompiledMilestone[];
  readonly surges: readonly SurgeTrigger[];
  /** The longest window among the surges, in seconds. */
  readonly surgeWindowSeconds: number;
  /** Sequences with a step of the type, and these steps. */
  readonly sequences: readonly {
    readonly trigger: SequenceTrigger;
    readonly steps: readonly CompiledStep[];
    /** Indexes of all these steps. Most events satisfy all of them, and their matches then share this list. */
    readonly places: number[];
  }[];
}

/** The milestones of one score. */
export interface MilestonesOfScore {
  /** Active milestones of no event type that a change of the score crosses which no event caused. */
  readonly crossed: TriggersOfType['crossed'];
  /** Milestones, active or not, that are re-armed at another score than their threshold; by trigger id. */
  readonly rearmed: ReadonlyMap<string, CompiledMilestone>;
  /** Whether a change of the score passes a bound at which one of `rearmed` is re-armed. */
  passesRearmBound(before: number, after: number): boolean;
}

export interface CompiledTriggers {
  readonly version: number;
  /** What events of a type concern: events change the engagement score. */
  of(eventType: string): TriggersOfType;
  ofScore(scoreType: AnyScoreType): MilestonesOfScore;
}

/** @param scoring a milestone by a level that is not in it is left out */
export function compileTriggers(configuration: Triggers, scoring: NamedScoring): CompiledTriggers {
  const placed = placedMilestones(configuration, scoring);
  const ofKey = createTriggersByType(keyedTriggers(configuration, ofScore(placed, 'engagement')));
  const scores = {
    engagement: milestonesOfScore(ofScore(placed, 'engagement')),
    profile: milestonesOfScore(ofScore(placed, 'profile')),
    deal: milestonesOfScore(ofScore(placed, 'deal')),
    account: milestonesOfScore(ofScore(placed, 'account')),
  };
  return {
    version: configuration.version,
    of: (eventType) => ofKey(eventTypeKey(eventType)),
    ofScore: (scoreType) => scores[scoreType],
  };
}

function ofScore(placed: readonly CompiledMilestone[], scoreType: AnyScoreType): CompiledMilestone[] {
  return placed.filter(({ trigger }) => trigger.score_type === scoreType);
}

function milestonesOfScore(placed: readonly CompiledMilestone[]): MilestonesOfScore {
  const rearmed = new Map(
    placed.flatMap((milestone) =>
      rearmBoundOf(milestone.line) === null ? [] : [[milestone.trigger.id, milestone]],
    ),
  );
  const bounds = [...rearmed.values()].map(({ line }) => rearmBoundOf(line) ?? 0).sort((a, b) => a - b);
  return {
    crossed: findCrossed(placed.filter(({ trigger }) => trigger.active && trigger.event_type === undefined)),
    rearmed,
    passesRearmBound: (before, after) => countUpTo(bounds, before) !== countUpTo(bounds, after),
  };
}

const noScoring: NamedScoring = { levels: [] };

/** Compiles the trigger as if it were the only one, active, and had always existed. */
export function compileAlone(trigger: Trigger, scoring: NamedScoring = noScoring): CompiledTriggers {
  return compileAlwaysThere([trigger], scoring);
}

/** Compiles the triggers as if they were active and had always existed. */
export function compileAlwaysThere(triggers: readonly Trigger[], scoring: NamedScoring): CompiledTriggers {
  const created_at = new Date(0).toISOString();
  const there = triggers.map((trigger): [string, Trigger] => [
    trigger.id,
    { ...trigger, active: true, since: 0, created_at, channel_ids: [] },
  ]);
  return compileTriggers({ version: 0, triggers: new Map(there) }, scoring);
}

/** Milestones, active or not, whose threshold is known. */
function placedMilestones({ triggers }: Triggers, { filters, ...levels }: NamedScoring): CompiledMilestone[] {
  return [...triggers.values()].flatMap((trigger): CompiledMilestone[] => {
    if (trigger.kind !== 'milestone') return [];
    const line = lineOf(trigger, levels);
    if (!line) return [];
    const { score_type } = trigger;
    const milestone = {
      trigger,
      line,
      levels: score_type === 'account' ? [] : levelsOfScore(levels, score_type),
    };
    if (trigger.filter_id === undefined) return [milestone];
    const saved = filters?.filters.get(trigger.filter_id.toLowerCase());
    const filter = filters && saved ? { conditions: saved.conditions, configuration: filters } : null;
    return [{ ...milestone, filter }];
  });
}

/** Active triggers, each with the key of its event type; null: all types. */
interface KeyedTriggers {
  readonly milestones: readonly { readonly milestone: CompiledMilestone; readonly key: string | null }[];
  readonly surges: readonly { readonly trigger: SurgeTrigger; readonly key: string | null }[];
  readonly sequences: readonly {
    readonly trigger: SequenceTrigger;
    readonly steps: readonly (CompiledStep & { readonly key: string })[];
  }[];
}

function keyedTriggers(configuration: Triggers, placed: readonly CompiledMilestone[]): KeyedTriggers {
  const active = [...configuration.triggers.values()].filter((trigger) => trigger.active);
  return {
    milestones: placed
      .filter(({ trigger }) => trigger.active)
      .map((milestone) => ({
        milestone,
        key: milestone.trigger.event_type === undefined ? null : eventTypeKey(milestone.trigger.event_type),
      })),
    surges: active
      .filter((trigger) => trigger.kind === 'surge')
      .map((trigger) => ({
        trigger,
        key: trigger.event_type === null ? null : eventTypeKey(trigger.event_type),
      })),
    sequences: active
      .filter((trigger) => trigger.kind === 'sequence')
      .map((trigger) => ({
        trigger,
        steps: trigger.steps.map(({ event_type, attribute_filters }, step) => ({
          key: eventTypeKey(event_type),
          step,
          filters: compileFilters(attribute_filters),
        })),
      })),
  };
}

/** Finds the triggers of a type by the type's key; all types that no trigger names share one entry. */
function createTriggersByType(keyed: KeyedTriggers): (key: string) => TriggersOfType {
  const named = new Set([
    ...[...keyed.milestones, ...keyed.surges].map(({ key }) => key),
    ...keyed.sequences.flatMap(({ steps }) => steps.map(({ key }) => key)),
  ]);
  const ofUnnamedTypes = triggersOfType(keyed, null);
  const byKey = new Map<string, TriggersOfType>();
  return (key) => {
    const known = byKey.get(key);
    if (known) return known;
    if (!named.has(key)) return ofUnnamedTypes;
    const triggers = triggersOfType(keyed, key);
    byKey.set(key, triggers);
    return triggers;
  };
}

/** @param wanted null: a type that no trigger names */
function triggersOfType(
  { milestones, surges, sequences }: KeyedTriggers,
  wanted: string | null,
): TriggersOfType {
  const isConcerned = ({ key }: { key: string | null }) => key === null || key === wanted;
  const concerned = surges.filter(isConcerned).map(({ trigger }) => trigger);
  return {
    crossed: findCrossed(milestones.filter(isConcerned).map(({ milestone }) => milestone)),
    surges: concerned,
    surgeWindowSeconds: Math.max(0, ...concerned.map(({ window_seconds }) => window_seconds)),
    sequences: sequences
      .map(({ trigger, steps }) => ({ trigger, steps: steps.filter(({ key }) => key === wanted) }))
      .filter(({ steps }) => steps.length > 0)
      .map(({ trigger, steps }) => ({ trigger, steps, places: steps.map(({ step }) => step) })),
  };
}

const none: readonly CompiledMilestone[] = [];

function findCrossed(milestones: readonly CompiledMilestone[]): TriggersOfType['crossed'] {
  const byThreshold = milestones
    .map((milestone, place) => ({ milestone, place }))
    .sort((a, b) => a.milestone.line.threshold - b.milestone.line.threshold);
  const thresholds = byThreshold.map(({ milestone }) => milestone.line.threshold);
  return (before, after) => {
    const from = countUpTo(thresholds, Math.min(before, after));
    const to = countUpTo(thresholds, Math.max(before, after));
    if (from === to) return none;
    return byThreshold
      .slice(from, to)
      .filter(({ milestone }) => isCrossed(milestone.line, before, after))
      .sort((a, b) => a.place - b.place)
      .map(({ milestone }) => milestone);
  };
}

/** The number of sorted values that are not above a bound, by binary search. */
function countUpTo(sorted: readonly number[], bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
