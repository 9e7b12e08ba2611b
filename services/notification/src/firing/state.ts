// What triggers remember of a lead: the fold of their own events, and of nothing else.
import type { Source } from './messages.js';
import type { Timed, Timeline } from './timeline-model.js';

/** An event that satisfied steps of a sequence and was not yet used for a firing. */
export interface StepMatch extends Timed {
  readonly event_id: string;
  readonly event_type: string;
  /** Ascending. */
  readonly steps: readonly number[];
  readonly configuration_version: number;
}

/** Points that an event gave. */
export interface Gain extends Timed {
  readonly points: number;
  readonly configuration_version: number;
}

/** What one trigger has done to the lead. */
export interface TriggerMemory {
  /** The last firings, oldest first. */
  readonly fired: readonly { readonly at: number; readonly configuration_version: number }[];
  /** Of a milestone that has fired and was not re-armed since: the configuration that it fired under. */
  readonly disarmed: number | null;
  readonly suppressed: { readonly until: number; readonly configuration_version: number } | null;
}

/** A trigger's memory as it is kept: the lead is deleted for each topic at that topic's own place. */
export interface KeptMemory extends TriggerMemory {
  /** Of the records that it came of; a trigger is concerned with those of one. */
  readonly topic: Source['topic'];
}

export interface LeadState {
  readonly ou_id: string;
  readonly lead_id: string;
  /** The last record of each topic that something was recorded because of; -1 before the first. */
  readonly seen: Readonly<Record<Source['topic'], number>>;
  /** By trigger. */
  readonly memories: ReadonlyMap<string, KeptMemory>;
  /** By sequence. */
  readonly matches: ReadonlyMap<string, Timeline<StepMatch>>;
  /** By event type (eventTypeKey). */
  readonly gains: ReadonlyMap<string, Timeline<Gain>>;
  /** The last deletion that each topic has told of; null where there is none, or the other may never tell of it. */
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
