// The state of a lead: the fold of firing's own events.
import type { Source } from './messages.js';
import type { TimelineEntry, Timeline } from './timeline.js';

/** An event that satisfies steps of a sequence and has not been used for a firing. */
export interface StepMatch extends TimelineEntry {
  readonly event_id: string;
  readonly event_type: string;
  /** Indexes of the steps, ascending. */
  readonly steps: readonly number[];
  readonly configuration_version: number;
}

/** Points that an event gave. */
export interface Gain extends TimelineEntry {
  readonly points: number;
  readonly configuration_version: number;
}

/** What a trigger remembers of a lead. */
export interface TriggerMemory {
  /** The last firings, oldest first; at most `rememberedFirings`. */
  readonly fired: readonly { readonly at: number; readonly configuration_version: number }[];
  /** Version of the configuration with which a milestone fired that was not re-armed since; null: armed. */
  readonly disarmed: number | null;
  readonly suppressed: { readonly until: number; readonly configuration_version: number } | null;
}

/** A trigger's memory with its topic, so that a deletion that one topic reports forgets only that topic's memory. */
export interface KeptMemory extends TriggerMemory {
  /** The topic of the records that the trigger is evaluated on. */
  readonly topic: Source['topic'];
}

export interface LeadState {
  readonly ou_id: string;
  readonly lead_id: string;
  /** Offset of the last record of each topic on which an event was decided; -1 before the first. */
  readonly seen: Readonly<Record<Source['topic'], number>>;
  /** By trigger id. */
  readonly memories: ReadonlyMap<string, KeptMemory>;
  /** By id of the sequence. */
  readonly matches: ReadonlyMap<string, Timeline<StepMatch>>;
  /** By `eventTypeKey` of the event type. */
  readonly gains: ReadonlyMap<string, Timeline<Gain>>;
  /** Id of the last deletion that each topic has reported; null: none, or one that the other topic may never report. */
  readonly deletions: Readonly<Record<Source['topic'], string | null>>;
}

export function initialLeadState(ouId: string, leadId: string): LeadState {
  return {
    ou_id: ouId,
    lead_id: leadId,
    seen: { 'ingest.events': -1, 'scoring.events': -1 },
    memories: new Map(),
    matches: new Map(),
    gains: new Map(),
    deletions: noDeletions,
  };
}

export const noDeletions: LeadState['deletions'] = { 'ingest.events': null, 'scoring.events': null };

export const noMemory: TriggerMemory = { fired: [], disarmed: null, suppressed: null };
