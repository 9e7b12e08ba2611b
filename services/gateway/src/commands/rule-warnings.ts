// What a new rule may not mean: events of a type that nobody sends, and that is spelled nearly as one that somebody does.
import { misspeltEventType, type Warning } from '@lead-scoring/contracts';

/** Routes whose body is a rule's. */
const ruleRoutes: readonly string[] = ['createRule', 'createEngagementRule'];

/**
 * Which types have come in is known to ingest alone: what no rule matches is not on scoring's log.
 * @param eventTypes those that have come in; a failure to find them out costs the warning and not the rule
 */
export async function ruleWarnings(
  route: { name: string },
  body: unknown,
  eventTypes: () => Promise<readonly string[]>,
): Promise<Warning[]> {
  if (!ruleRoutes.includes(route.name)) return [];
  const { event_type } = body as { event_type: string };
  const meant = misspeltEventType(event_type, await eventTypes().catch(() => []));
  if (meant === undefined) return [];
  return [
    {
      code: 'event_type_not_seen',
      message: `No event of the type "${event_type}" has come in, but of "${meant}", which is spelled nearly so. If that one was meant, make the rule for it.`,
    },
  ];
}
