// Computes the right scores from all events in memory, without any of the system's code. It has to stay simple, because the tests
// rely on it.

export interface ReferenceEvent {
  alias: string;
  event_type: string;
  event_id: string;
  path: string;
}

export interface ReferenceRule {
  event_type: string;
  weight: number;
  path_contains?: string;
}

/** The score by alias: the sum of the weights of all matching rules, each event_id of an alias counted once. */
export function referenceScores(
  events: Iterable<ReferenceEvent>,
  rules: readonly ReferenceRule[],
): Map<string, number> {
  const seen = new Set<string>();
  const scores = new Map<string, number>();
  for (const event of events) {
    const key = `${event.alias}\n${event.event_id}`;
    if (seen.has(key)) continue;
    seen.add(key);
    let score = scores.get(event.alias) ?? 0;
    for (const rule of rules)
      if (
        rule.event_type === event.event_type &&
        (rule.path_contains === undefined || event.path.includes(rule.path_contains))
      )
        score += rule.weight;
    scores.set(event.alias, score);
  }
  return scores;
}
