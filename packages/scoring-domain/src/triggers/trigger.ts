// The triggers of an OU, as their definitions are folded.
import { shownActor, type Actor, type records, type TriggerKind } from '@lead-scoring/contracts';

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

/** The triggers of an OU, in the order of their creation. */
export interface Triggers {
  /** Grows with every change. */
  readonly version: number;
  readonly triggers: ReadonlyMap<string, Trigger>;
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

/** A trigger as its first definition makes it. @param since version of the configuration that it came with */
export function createdTrigger(
  { trigger_id, ou_id, definition, version, at, actor }: records.TriggerCreated,
  since: number,
): Trigger {
  return {
    ...definition,
    id: trigger_id,
    ou_id,
    version,
    since,
    created_at: at,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}
