// Folds a batch of events into the states of leads or of accounts. Pure.
import type { TriggerMemory } from '@lead-scoring/scoring-domain/triggers';
import { cacheKeyOf, isForgetting, type SubjectEnd, type SubjectEvent } from './subject-model.js';

/** An event of firing, as read from the log. */
export interface RecordedFiring<Event extends SubjectEvent> {
  readonly event: Event;
  /** The payload's text on the log. */
  readonly json: Buffer;
  readonly offset: number;
}

/** A state of a lead or of an account. */
export interface SubjectState {
  /** By trigger id. */
  readonly memories: ReadonlyMap<string, TriggerMemory>;
}

export interface FoldedSubject<State extends SubjectState> {
  readonly state: State;
  /** Offset of the last event that was folded into the state. */
  readonly offset: number;
}

/** How the states of leads, or those of accounts, follow from events. */
export interface SubjectFold<Event extends SubjectEvent, State extends SubjectState> {
  /** The state before the first event of the lead or account. */
  readonly initial: (of: Event['payload']) => State;
  readonly evolve: (state: State, event: Event) => State;
}

/** A lead or an account that an event of a batch forgets. */
export interface ForgottenSubject {
  readonly end: SubjectEnd;
  /** Offset of the event. */
  readonly offset: number;
  /** Ids of the triggers that were silent for it and whose memory is forgotten. */
  readonly silenced: readonly string[];
}

export interface FoldedFirings<Event extends SubjectEvent, State extends SubjectState> {
  /** States by cache key. */
  readonly changed: ReadonlyMap<string, FoldedSubject<State>>;
  /**
   * The events that were not folded before. The others are not stored again: their lead or account may have been forgotten
   * since.
   */
  readonly unfolded: readonly RecordedFiring<Event>[];
  readonly forgotten: readonly ForgottenSubject[];
}

/**
 * @param before the states of all leads or accounts of the events, by cache key
 * @param decidedStates states that the decision has computed, by payload of the event
 */
export function foldFirings<Event extends SubjectEvent, State extends SubjectState>(
  recorded: readonly RecordedFiring<Event>[],
  before: ReadonlyMap<string, FoldedSubject<State> | null>,
  { initial, evolve }: SubjectFold<Event, State>,
  decidedStates: ReadonlyMap<object, State> = new Map(),
): FoldedFirings<Event, State> {
  const changed = new Map<string, FoldedSubject<State>>();
  const unfolded: RecordedFiring<Event>[] = [];
  const forgotten: ForgottenSubject[] = [];
  for (const one of recorded) {
    const { event, offset } = one;
    const key = cacheKeyOf(event.payload);
    const subject = changed.get(key) ?? before.get(key);
    if (subject && subject.offset >= offset) continue;
    const stateBefore = subject?.state ?? initial(event.payload);
    const state = decidedStates.get(event.payload) ?? evolve(stateBefore, event);
    if (isForgetting(event))
      forgotten.push({ end: event.payload, offset, silenced: silencedUntil(stateBefore, state) });
    changed.set(key, { state, offset });
    unfolded.push(one);
  }
  return { changed, unfolded, forgotten };
}

/** Ids of the triggers that were silent, and are not remembered afterwards. */
function silencedUntil(before: SubjectState, after: SubjectState): string[] {
  return [...before.memories].flatMap(([id, { suppressed }]) =>
    suppressed !== null && !after.memories.has(id) ? [id] : [],
  );
}
