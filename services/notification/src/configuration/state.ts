// The state of an OU's channels and triggers: one aggregate, published whole.
import type { Actor, records, TriggerKind } from '@lead-scoring/contracts';

export interface Channel {
  id: string;
  ou_id: string;
  name: string;
  /** Type and settings; secrets are sealed. */
  destination: records.ChannelDestination;
  signing: {
    key_id: string;
    /** Sealed. Undefined for a channel that was created before secrets were stored, until its secrets are resealed. */
    secret?: string | undefined;
    /** The previous key signs too, until `valid_until`. */
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
   * Version of the configuration since which the trigger fires for the same events as now. Progress, cooldowns and re-arming from
   * before do not count. A change of name, channels or activity keeps it.
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

/** Channels and triggers are in the order of their creation. */
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

/** Whether the trigger's threshold is the bound of a level. */
export function isByLevel(trigger: records.TriggerDefinition): boolean {
  return trigger.kind === 'milestone' && trigger.level !== undefined;
}

/** Whether the trigger names a level or a filter, which are of scoring's configuration. */
export function namesScoring(trigger: records.TriggerDefinition): boolean {
  return isByLevel(trigger) || filterIdOf(trigger) !== undefined;
}

/** The saved filter that leads must match; undefined: the trigger is of all leads. */
export function filterIdOf(trigger: records.TriggerDefinition): string | undefined {
  return trigger.kind === 'milestone' ? trigger.filter_id : undefined;
}

export function isOfKind<Kind extends TriggerKind>(
  trigger: Trigger,
  kind: Kind,
): trigger is Extract<Trigger, { kind: Kind }> {
  return trigger.kind === kind;
}
