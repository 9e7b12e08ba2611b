// A configuration compiled for evaluation: triggers by event type and milestones by threshold, so that an event is evaluated
// only on triggers of its type and milestones that its score crosses. Compiled once per version of a configuration and list of
// levels.
import { compileFilters, eventTypeKey, type MetadataTest } from '@lead-scoring/contracts';
import {
  emptyNotificationConfiguration,
  type MilestoneTrigger,
  type NotificationConfiguration,
  type SequenceTrigger,
  type SurgeTrigger,
  type Trigger,
} from '../configuration/state.js';
import { lineOf, type Levels, type Line } from '../levels/line-model.js';
import { isCrossed, rearmBoundOf } from './milestone-model.js';

export interface CompiledStep {
  readonly step: number;
  readonly filters: MetadataTest;
}

export interface CompiledMilestone {
  readonly trigger: MilestoneTrigger;
  readonly line: Line;
  /** The list of levels that the line comes from. */
  readonly levels: Levels;
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

export interface CompiledTriggers {
  readonly version: number;
  of(eventType: string): TriggersOfType;
  /** Milestones, active or not, that are re-armed at another score than their threshold; by trigger id. */
  readonly rearmed: ReadonlyMap<string, CompiledMilestone>;
  /** Whether a change of the score passes a bound at which one of these milestones is re-armed. */
  passesRearmBound(before: number, after: number): boolean;
}

/** @param levels of the OU; a milestone by a level that is not among them is left out */
export function compileTriggers(configuration: NotificationConfiguration, levels: Levels): CompiledTriggers {
  const placed = placedMilestones(configuration, levels);
  const ofKey = createTriggersByType(keyedTriggers(configuration, placed));
  const rearmed = new Map(
    placed.flatMap((milestone) =>
      rearmBoundOf(milestone.line) === null ? [] : [[milestone.trigger.id, milestone]],
    ),
  );
  const bounds = [...rearmed.values()].map(({ line }) => rearmBoundOf(line) ?? 0).sort((a, b) => a - b);
  return {
    version: configuration.version,
    of: (eventType) => ofKey(eventTypeKey(eventType)),
    rearmed,
    passesRearmBound: (before, after) => countUpTo(bounds, before) !== countUpTo(bounds, after),
  };
}

/** Compiles the trigger as if it were the only one, active, and had always existed. */
export function compileAlone(trigger: Trigger, levels: Levels = []): CompiledTriggers {
  const configuration = emptyNotificationConfiguration(trigger.ou_id);
  const created_at = new Date(0).toISOString();
  const there = { ...trigger, active: true, since: 0, created_at, channel_ids: [] };
  return compileTriggers({ ...configuration, triggers: new Map([[trigger.id, there]]) }, levels);
}

/** Milestones, active or not, whose threshold is known. */
function placedMilestones({ triggers }: NotificationConfiguration, levels: Levels): CompiledMilestone[] {
  return [...triggers.values()].flatMap((trigger): CompiledMilestone[] => {
    const line = trigger.kind === 'milestone' ? lineOf(trigger, levels) : null;
    return trigger.kind === 'milestone' && line ? [{ trigger, line, levels }] : [];
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

function keyedTriggers(
  configuration: NotificationConfiguration,
  placed: readonly CompiledMilestone[],
): KeyedTriggers {
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
