// The rules and triggers that use an event type, from the public events of scoring and notification. Pure.
import { eventTypeKey, type records } from '@lead-scoring/contracts';

/** A rule or trigger, and the types that it uses. */
export interface EventTypeUse {
  readonly user: RuleUser | TriggerUser;
  /** Keys of event types, each once. */
  readonly types: readonly string[];
}

export interface RuleUser {
  readonly kind: 'rule';
  readonly id: string;
  readonly ruleset_id: string;
  readonly label?: string;
}

export interface TriggerUser {
  readonly kind: records.TriggerDefinition['kind'];
  readonly id: string;
  readonly name: string;
}

/** An engagement rule; rules over conditions look at fields, and use no event type. Inactive ones use their type as well. */
export function useOfRule({ rule_id, ruleset_id, label, event_type }: records.RuleCreated): EventTypeUse {
  return {
    user: { kind: 'rule', id: rule_id, ruleset_id, ...(label !== undefined && { label }) },
    types: [eventTypeKey(event_type)],
  };
}

/** null: the trigger is for all types, so it does not need any one of them. */
export function useOfTrigger({
  trigger_id,
  definition,
}: Pick<records.TriggerCreated, 'trigger_id' | 'definition'>): EventTypeUse | null {
  const types = new Set(typesNamedIn(definition).map(eventTypeKey));
  if (types.size === 0) return null;
  return { user: { kind: definition.kind, id: trigger_id, name: definition.name }, types: [...types] };
}

function typesNamedIn(definition: records.TriggerDefinition): string[] {
  if (definition.kind === 'sequence') return definition.steps.map(({ event_type }) => event_type);
  return typeof definition.event_type === 'string' ? [definition.event_type] : [];
}
