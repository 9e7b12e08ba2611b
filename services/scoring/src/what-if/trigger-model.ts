// Which triggers would have fired in a replayed history, and how often: by the deciders of notification, on both sides. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import {
  compileAlwaysThere,
  createdTrigger,
  decideIngestedHistory,
  decideScoredHistory,
  initialLeadState,
  isFired,
  type CompiledTriggers,
  type FiringDraft,
  type HistoryContext,
  type HistoryDecision,
  type LeadState,
} from '@lead-scoring/scoring-domain/triggers';
import type { Lead } from '../leads/state.js';
import type { LeadEvent } from '../scores/messages.js';
import type { DefinedTrigger } from '../trigger-definitions/documents.js';
import type { Sides } from './replay-model.js';
import type { Happening } from './track-model.js';

type FoundTriggers = NonNullable<records.WhatIfFound['triggers']>;

/** Whether a what-if evaluates the trigger: it is active, and of scores that are replayed. */
export function isEvaluated({ definition }: DefinedTrigger): boolean {
  return definition.active && !(definition.kind === 'milestone' && definition.score_type === 'account');
}

/** Whether the triggers remember events of leads, which takes memory for each of them. */
export function rememberEvents(triggers: readonly DefinedTrigger[]): boolean {
  return triggers.some(({ definition }) => definition.kind !== 'milestone');
}

/** Every event of the range counts: the range leaves out the others before they are decided on. */
const endOfTime = '9999-12-31T23:59:59.999Z';

/** Evaluates triggers on the leads of a group. */
class FiringTally {
  readonly #states = new Map<string, LeadState>();
  /** By lead and trigger. */
  readonly #fired = new Map<string, Map<string, number>>();

  constructor(private readonly triggers: CompiledTriggers) {}

  /** @param lead the lead after the decision */
  readonly take = ({ type, payload }: LeadEvent, lead: Lead | null): void => {
    if (type === 'LeadRemoved') this.forget(payload.lead_id);
    else
      this.#count(
        payload.lead_id,
        decideScoredHistory(payload, () => lead, this.#contextOf(payload)),
      );
  };

  takeIngested(payload: records.EventsIngested): void {
    this.#count(payload.lead_id, decideIngestedHistory(payload, this.#contextOf(payload)));
  }

  /** A deleted lead counts nowhere. */
  forget(leadId: string): void {
    this.#states.delete(leadId);
    this.#fired.delete(leadId);
  }

  /** The firings of each trigger that has fired. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const fired of this.#fired.values())
      for (const [id, count] of fired) counts.set(id, (counts.get(id) ?? 0) + count);
    return counts;
  }

  #contextOf({ ou_id, lead_id }: { readonly ou_id: string; readonly lead_id: string }): HistoryContext {
    const stateBefore = () => this.#states.get(lead_id) ?? initialLeadState(ou_id, lead_id);
    return { triggers: this.triggers, stateBefore, before: endOfTime };
  }

  #count(leadId: string, { events, state }: HistoryDecision): void {
    if (state) this.#states.set(leadId, state);
    for (const id of firedIn(events)) {
      const fired = this.#fired.get(leadId) ?? new Map<string, number>();
      fired.set(id, (fired.get(id) ?? 0) + 1);
      this.#fired.set(leadId, fired);
    }
  }
}

function firedIn(events: readonly FiringDraft[]): string[] {
  return events.flatMap((event) => (isFired(event) ? [event.payload.trigger.id] : []));
}

/** Evaluates triggers on both sides of a replay: those by scores on each, and sequences, which no rule has a part in, once. */
export class TriggerTallies {
  /** What they observe of decisions; undefined: no trigger is by a score. */
  readonly observers: Sides<FiringTally> | undefined;
  readonly #sequences: FiringTally | null;

  constructor(triggers: readonly DefinedTrigger[], configurations: Sides<ScoringConfiguration>) {
    const isSequence = ({ definition: { kind } }: DefinedTrigger) => kind === 'sequence';
    const byScore = triggers.filter((trigger) => !isSequence(trigger));
    const sequences = triggers.filter(isSequence);
    if (byScore.length > 0)
      this.observers = {
        live: new FiringTally(compiled(byScore, configurations.live)),
        draft: new FiringTally(compiled(byScore, configurations.draft)),
      };
    this.#sequences = sequences.length > 0 ? new FiringTally(compiled(sequences, configurations.live)) : null;
  }

  /** Takes what happened, as far as it counts. */
  readonly takeHappenings = (happenings: readonly Happening[]): void => {
    if (!this.#sequences) return;
    for (const { type, payload } of happenings)
      if (type === 'LeadDeleted') this.#sequences.forget(payload.lead_id);
      else if (type === 'EventsIngested') this.#sequences.takeIngested(payload);
  };

  /** The triggers that have fired on a side. */
  found(): FoundTriggers {
    const of = (tally: FiringTally | null | undefined) => tally?.counts() ?? new Map<string, number>();
    const [live, draft, either] = [this.observers?.live, this.observers?.draft, this.#sequences].map(of);
    const ids = new Set([live, draft, either].flatMap((counts) => [...(counts?.keys() ?? [])]));
    return [...ids].map((id) => {
      const sequence = either?.get(id) ?? 0;
      return { id, live: sequence + (live?.get(id) ?? 0), draft: sequence + (draft?.get(id) ?? 0) };
    });
  }
}

function compiled(
  triggers: readonly DefinedTrigger[],
  configuration: ScoringConfiguration,
): CompiledTriggers {
  const { levels, profile_levels } = configuration;
  return compileAlwaysThere(
    triggers.map(({ id: trigger_id, definition, at }) =>
      createdTrigger({ trigger_id, ou_id: configuration.ou_id, definition, version: 1, at }, 0),
    ),
    { levels, ...(profile_levels && { profile_levels }), filters: configuration },
  );
}

/** The findings of two groups of leads. */
export function joinedTriggers(one: FoundTriggers, other: FoundTriggers): FoundTriggers {
  const joined = new Map(one.map((trigger) => [trigger.id, trigger]));
  for (const { id, live, draft } of other) {
    const known = joined.get(id);
    joined.set(id, { id, live: live + (known?.live ?? 0), draft: draft + (known?.draft ?? 0) });
  }
  return [...joined.values()];
}

/** The triggers that a what-if evaluates at this step: those that are as they were when it began. */
export function unchangedTriggers(
  defined: readonly DefinedTrigger[],
  { work: { triggers = [] }, started_at }: EvaluatingJob,
): DefinedTrigger[] {
  const asked = new Set(triggers);
  return defined.filter(({ id, at }) => asked.has(id) && at <= started_at);
}

interface EvaluatingJob {
  readonly work: Pick<records.WhatIfWork, 'triggers'>;
  readonly started_at: string;
}

/**
 * What a what-if answers of triggers, those of which most has changed first.
 * @param evaluated those that are as they were when they were evaluated
 */
export function triggersAnswered(
  evaluated: readonly DefinedTrigger[],
  found: Pick<records.WhatIfFound, 'triggers'>,
): routeDeclarations.WhatIfResult['triggers'] {
  const counts = new Map(found.triggers?.map((trigger) => [trigger.id, trigger]));
  const change = ({ live, draft }: { live: number; draft: number }) => Math.abs(draft - live);
  return evaluated
    .map(({ id, definition: { name, kind } }) => {
      const { live = 0, draft = 0 } = counts.get(id) ?? {};
      return { id, name, kind, live, draft };
    })
    .sort((one, other) => change(other) - change(one) || (one.id < other.id ? -1 : 1));
}
