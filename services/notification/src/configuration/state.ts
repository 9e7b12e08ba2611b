// An OU's channels and triggers as its events make them: one aggregate, published whole.
import type { Actor, records, TriggerKind } from '@lead-scoring/contracts';

export interface Channel {
  id: string;
  ou_id: string;
  name: string;
  /** Type and config; secrets are sealed. */
  destination: records.ChannelDestination;
  signing: {
    key_id: string;
    /** Sealed; undefined for a channel from before secrets were stored, until its secrets are sealed anew. */
    secret?: string | undefined;
    /** Signs beside the other until then. */
    previous: { key_id: string; secret?: string | undefined; valid_until: string } | null;
  };
  version: number;
  created_at: string;
  updated_at: string;
  /** The actor of the latest change; undefined: not known. */
  changed_by?: Actor | undefined;
}

interface TriggerState {
  id: string;
  ou_id: string;
  version: number;
  /**
   * The configuration's version since which the trigger looks for the same events as now. Progress, cooldown and
   * re-arming from before do not count; another name, other channels, or a pause change nothing of it.
   */
  since: number;
  created_at: string;
  updated_at: string;
  /** The actor of the latest change; undefined: not known. */
  changed_by?: Actor | undefined;
}

export type MilestoneTrigger = TriggerState & records.MilestoneDefinition;
export type SequenceTrigger = TriggerState & records.SequenceDefinition;
export type SurgeTrigger = TriggerState & records.SurgeDefinition;
export type Trigger = MilestoneTrigger | SequenceTrigger | SurgeTrigger;

/** Channels and triggers in the order in which they were made. */
export interface NotificationConfiguration {
  readonly ou_id: string;
  /** Grows with every change; 0 before the first. */
  readonly version: number;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly triggers: ReadonlyMap<string, Trigger>;
}

export function emptyNotificationConfiguration(ouId: string): NotificationConfiguration {
  return { ou_id: ouId, version: 0, channels: new Map(), triggers: new Map() };
}

/** Whether where it fires depends on the OU's levels. */
export function isByLevel(trigger: records.TriggerDefinition): boolean {
  return trigger.kind === 'milestone' && trigger.level !== undefined;
}

export function isOfKind<Kind extends TriggerKind>(
  trigger: Trigger,
  kind: Kind,
): trigger is Extract<Trigger, { kind: Kind }> {
  return trigger.kind === kind;
}
