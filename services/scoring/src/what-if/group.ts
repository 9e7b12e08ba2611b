// What a what-if finds out of one group of leads. Input and result are plain data, so that a thread of its own can do it.
import type { records } from '@lead-scoring/contracts';
import type { EventLog } from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { DefinedTrigger } from '../trigger-definitions/documents.js';
import { foundIn, withReasons } from './found-model.js';
import type { HistoryPart } from './history.js';
import { PointTally } from './reasons-model.js';
import { replayed } from './replay-group.js';
import type { ReplayedRange, Sides } from './replay-model.js';
import { TriggerTallies } from './trigger-model.js';

export interface WhatIfGroup {
  readonly part: Omit<HistoryPart, 'signal' | 'chosen'>;
  readonly configurations: Sides<ScoringConfiguration>;
  readonly range: ReplayedRange;
  readonly score_type: records.WhatIfWork['score_type'];
  readonly outcome?: records.WhatIfWork['outcome'];
  /** The triggers that are evaluated. */
  readonly triggers: readonly DefinedTrigger[];
}

export async function findInGroup(
  { part, configurations, range, score_type, outcome, triggers }: WhatIfGroup,
  log: EventLog,
  signal: AbortSignal,
): Promise<records.WhatIfFound> {
  const firings = triggers.length > 0 ? new TriggerTallies(triggers, configurations) : null;
  const replay = await replayed(
    log,
    { ...part, signal },
    {
      configurations,
      range,
      outcome,
      observers: firings?.observers,
      onHappenings: firings?.takeHappenings,
    },
  );
  const found = foundIn(replay, { configurations, score_type });
  // The points of each rule are counted for these few leads alone, which costs less than counting them for all.
  const movers = { ...part, signal, leads: new Set(found.movers.map(({ lead_id }) => lead_id)) };
  const tallies = { live: new PointTally(score_type), draft: new PointTally(score_type) };
  if (movers.leads.size > 0) await replayed(log, movers, { configurations, range, observers: tallies });
  const explained = withReasons(found, tallies, configurations);
  return firings ? { ...explained, triggers: firings.found() } : explained;
}
