// A configuration made ready for evaluating: triggers by event type, so that an event meets only those that are
// concerned with its type. Made once per version of a configuration.
import { compileFilters, eventTypeKey, type MetadataTest } from '@lead-scoring/contracts';
import type {
  MilestoneTrigger,
  NotificationConfiguration,
  SequenceTrigger,
  SurgeTrigger,
} from '../configuration/state.js';
import { rearmBoundOf } from './milestone-model.js';

export interface CompiledStep {
  readonly step: number;
  readonly filters: MetadataTest;
}

/** Active triggers that events of one type concern, in the order in which they were made. */
export interface TriggersOfType {
  readonly milestones: readonly MilestoneTrigger[];
  readonly surges: readonly SurgeTrigger[];
  /** The longest window of the surges. */
  readonly surgeWindowSeconds: number;
  /** With the steps that are of the type. */
  readonly sequences: readonly {
    readonly trigger: SequenceTrigger;
    readonly steps: readonly CompiledStep[];
  }[];
}

export interface CompiledTriggers {
  readonly version: number;
  of(eventType: string): TriggersOfType;
  /** Milestones that are re-armed at another score than their threshold, also while they are switched off. */
  readonly rearmed: ReadonlyMap<string, MilestoneTrigger>;
  /** Whether a change from one score to another passes a score at which some milestone is re-armed. */
  passesRearmBound(before: number, after: number): boolean;
}

/** Spellings of types whose triggers are remembered. */
const maximumSpellings = 10_000;

export function compileTriggers(configuration: NotificationConfiguration): CompiledTriggers {
  const active = [...configuration.triggers.values()].filter((trigger) => trigger.active);
  /** With the key of the type that each is about; null: all types. */
  const milestones = active
    .filter((trigger) => trigger.kind === 'milestone')
    .map((trigger) => ({
      trigger,
      key: trigger.event_type === undefined ? null : eventTypeKey(trigger.event_type),
    }));
  const surges = active
    .filter((trigger) => trigger.kind === 'surge')
    .map((trigger) => ({
      trigger,
      key: trigger.event_type === null ? null : eventTypeKey(trigger.event_type),
    }));
  const sequences = active
    .filter((trigger) => trigger.kind === 'sequence')
    .map((trigger) => ({
      trigger,
      steps: trigger.steps.map(({ event_type, attribute_filters }, step) => ({
        key: eventTypeKey(event_type),
        step,
        filters: compileFilters(attribute_filters),
      })),
    }));
  const named = new Set([
    ...[...milestones, ...surges].map(({ key }) => key),
    ...sequences.flatMap(({ steps }) => steps.map(({ key }) => key)),
  ]);
  const ofType = (wanted: string | null): TriggersOfType => {
    const isConcerned = ({ key }: { key: string | null }) => key === null || key === wanted;
    const concerned = surges.filter(isConcerned).map(({ trigger }) => trigger);
    return {
      milestones: milestones.filter(isConcerned).map(({ trigger }) => trigger),
      surges: concerned,
      surgeWindowSeconds: Math.max(0, ...concerned.map(({ window_seconds }) => window_seconds)),
      sequences: sequences
        .map(({ trigger, steps }) => ({ trigger, steps: steps.filter(({ key }) => key === wanted) }))
        .filter(({ steps }) => steps.length > 0),
    };
  };
  const ofUnnamedTypes = ofType(null);
  const byKey = new Map<string, TriggersOfType>();
  const bySpelling = new Map<string, TriggersOfType>();
  const ofKey = (key: string): TriggersOfType => {
    if (!named.has(key)) return ofUnnamedTypes;
    const known = byKey.get(key) ?? ofType(key);
    byKey.set(key, known);
    return known;
  };
  const rearmed = new Map(
    [...configuration.triggers.values()].flatMap((trigger) =>
      trigger.kind === 'milestone' && rearmBoundOf(trigger) !== null ? [[trigger.id, trigger]] : [],
    ),
  );
  const bounds = [...rearmed.values()].map((trigger) => rearmBoundOf(trigger) ?? 0).sort((a, b) => a - b);
  return {
    version: configuration.version,
    of: (eventType) => {
      let triggers = bySpelling.get(eventType);
      if (!triggers) {
        triggers = ofKey(eventTypeKey(eventType));
        if (bySpelling.size >= maximumSpellings) bySpelling.clear();
        bySpelling.set(eventType, triggers);
      }
      return triggers;
    },
    rearmed,
    passesRearmBound: (before, after) => countUpTo(bounds, before) !== countUpTo(bounds, after),
  };
}

/** How many of the sorted numbers are not above a bound. */
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
