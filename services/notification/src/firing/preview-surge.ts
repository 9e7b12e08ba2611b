// Previews a surge trigger: the leads that gained its threshold in the window that ends now.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ExplanationReader } from '@lead-scoring/explanations';
import { heldInRange, pointsOfEvent, scoredEventsOf, scoreTypeOf } from '@lead-scoring/scoring-domain';
import {
  compileAlone,
  type CompiledTriggers,
  type SurgeTrigger,
} from '@lead-scoring/scoring-domain/triggers';
import {
  HistoryExamination,
  maximumListed,
  type DraftPayload,
  type HistoryBounds,
  type Range,
} from './history-examination.js';

/** A lead's points within the window, and its score after the last examined decision. */
interface WindowGain {
  readonly gained: number;
  readonly from: string;
  readonly to: string;
  readonly score: number;
}

/** Finds the leads whose points within the window reach the threshold, in as much of the history as the bounds allow. */
export async function previewSurge(
  explanations: ExplanationReader,
  trigger: SurgeTrigger,
  now: Date,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SurgePreview> {
  const range = {
    from: new Date(now.getTime() - trigger.window_seconds * 1_000).toISOString(),
    to: new Date(now.getTime() + 1).toISOString(),
  };
  const triggers = compileAlone(trigger);
  const examination = new HistoryExamination<DraftPayload<'SurgeFired'>>(range, bounds);
  const gains = new Map<string, WindowGain>();
  for await (const decision of explanations.decisionsOf(trigger.ou_id)) {
    if (scoreTypeOf(decision) !== 'engagement') continue;
    const { lead_id, score } = decision;
    const scored_events = scoredEventsOf(decision);
    if (!examination.goesOn(lead_id, scored_events)) break;
    const gain = gainWith(gains.get(lead_id), scored_events, range, triggers);
    // The lead is listed with its newest score, also where that decision has no event in the window.
    if (gain) gains.set(lead_id, { ...gain, score });
  }
  const { leads_examined, truncated } = examination.end();
  const matching = [...gains]
    .filter(([, { gained }]) => gained >= trigger.threshold)
    .sort(([a, { gained: most }], [b, { gained: less }]) => less - most || (a < b ? -1 : 1));
  const listed = matching.slice(0, maximumListed);
  const names = await explanations.names(
    trigger.ou_id,
    listed.map(([id]) => id),
  );
  return {
    data: listed.map(([id, window]) => ({ lead: { id, name: names.get(id) ?? id }, ...window })),
    total: matching.length,
    leads_examined,
    truncated,
  };
}

function gainWith(
  before: Omit<WindowGain, 'score'> | undefined,
  events: readonly records.ScoredEvent[],
  range: Range,
  triggers: CompiledTriggers,
): Omit<WindowGain, 'score'> | undefined {
  let gain = before;
  for (const event of events) {
    const { event_type, timestamp } = event;
    if (timestamp < range.from || timestamp >= range.to) continue;
    if (triggers.of(event_type).surges.length === 0) continue;
    const known = gain ?? { gained: 0, from: timestamp, to: timestamp };
    gain = {
      gained: heldInRange(known.gained + pointsOfEvent(event)),
      from: timestamp < known.from ? timestamp : known.from,
      to: timestamp > known.to ? timestamp : known.to,
    };
  }
  return gain;
}
