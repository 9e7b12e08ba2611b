// Warns about a new or changed rule whose event type has never come in and resembles one that has: it may be misspelt.
import { eventTypeKey, misspeltEventType, type Warning } from '@lead-scoring/contracts';

/** Routes whose body is a rule, or a change of one. */
const ruleRoutes: readonly string[] = ['createRule', 'createEngagementRule', 'updateRule'];

/** An event type that has come in. */
export interface SeenEventType {
  name: string;
  /** Lists leave it out, and so do warnings. */
  hidden: boolean;
}

/**
 * Only ingest knows the event types that have come in: scoring does not record events that match no rule.
 * @param eventTypes reads the types that have come in; when it fails, there is no warning, and the rule is as asked for
 */
export async function ruleWarnings(
  route: { name: string },
  body: unknown,
  eventTypes: () => Promise<readonly SeenEventType[]>,
): Promise<Warning[]> {
  if (!ruleRoutes.includes(route.name)) return [];
  const { event_type } = body as { event_type?: string };
  // A profile rule, or a change that leaves the event type.
  if (event_type === undefined) return [];
  const intended = intendedType(event_type, await eventTypes().catch(() => []));
  if (intended === undefined) return [];
  return [
    {
      code: 'event_type_not_seen',
      message: `No event of the type "${event_type}" has come in, but events of the similar type "${intended}" have. If you mean that type, make the rule for it.`,
    },
  ];
}

function intendedType(name: string, seen: readonly SeenEventType[]): string | undefined {
  const key = eventTypeKey(name);
  if (seen.some((type) => eventTypeKey(type.name) === key)) return undefined;
  return misspeltEventType(
    name,
    seen.flatMap((type) => (type.hidden ? [] : [type.name])),
  );
}
