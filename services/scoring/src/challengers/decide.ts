// Decides on the challengers of an organizational unit, and folds what was decided: pure.
import { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { alreadyDeleted, limitReached } from '../configuration/decision-model.js';
import type { Refusal } from '../configuration/messages.js';
import { draftOf } from '../what-if/draft-model.js';

/** A draft that runs in shadow. */
export type Challenger = records.ChallengerStarted;

export interface Challengers {
  readonly ou_id: string;
  /** Oldest first. */
  readonly running: readonly Challenger[];
  /** The latest ones that ended: a repeated request does not start one anew, and applying it again is answered like the first time. */
  readonly ended: readonly EndedChallenger[];
}

export interface EndedChallenger {
  readonly challenger_id: string;
  /** The version of the configuration with the draft in it. Absent: it ended without being made live. */
  readonly version?: number;
}

export type ChallengerCommand =
  | { type: 'StartChallenger'; payload: records.StartChallenger }
  | { type: 'EndChallenger'; payload: records.EndChallenger };
export type ChallengerEvent =
  | { type: 'ChallengerStarted'; payload: records.ChallengerStarted }
  | { type: 'ChallengerEnded'; payload: records.ChallengerEnded };

/** What a challenger begins with. */
export interface ChallengerContext {
  /** The live rules, by OU. */
  readonly configurations: ReadonlyMap<string, ScoringConfiguration>;
  /** The ends of the log, by partition. */
  readonly starts: records.ChallengerStarted['starts'];
}

const rememberedEnded = 50;

export const noChallengers = (ou_id: string): Challengers => ({ ou_id, running: [], ended: [] });

export const challengerNotFound: Refusal = {
  outcome: 'rejected',
  code: 'challenger_not_found',
  message:
    'No challenger of this organizational unit has this id: it has ended, or there was none. GET /scoring/challengers lists those that run.',
};

export function decideChallenger(
  { type, payload }: ChallengerCommand,
  state: Challengers,
  context: ChallengerContext,
): Refusal | { outcome: 'done'; events: ChallengerEvent[] } {
  return type === 'StartChallenger' ? start(payload, state, context) : end(payload, state);
}

function start(
  { requested_at: at, ...asked }: records.StartChallenger,
  state: Challengers,
  { configurations, starts }: ChallengerContext,
): ReturnType<typeof decideChallenger> {
  const { challenger_id, ou_id } = asked;
  if (runningOf(state, challenger_id)) return { outcome: 'done', events: [] };
  if (endedOf(state, challenger_id)) return alreadyDeleted('challenger');
  if (state.running.length >= records.challengerLimits.running)
    return limitReached(
      `An organizational unit has at most ${String(records.challengerLimits.running)} challengers. End one (DELETE /scoring/challengers/{id}) or make one live, and start this one then.`,
    );
  const live = configurations.get(ou_id);
  if (!live) throw new Error('the live rules were not looked up');
  const draft = draftOf(asked, live, { job_id: challenger_id, at });
  if (draft.outcome === 'rejected') return draft;
  const { version: configuration_version } = live;
  return {
    outcome: 'done',
    events: [{ type: 'ChallengerStarted', payload: { ...asked, configuration_version, starts, at } }],
  };
}

function end(
  { ou_id, challenger_id, applied_version, requested_at: at, actor }: records.EndChallenger,
  state: Challengers,
): ReturnType<typeof decideChallenger> {
  if (!runningOf(state, challenger_id)) return challengerNotFound;
  const payload = {
    ...{ ou_id, challenger_id, at },
    ...(applied_version !== undefined && { applied_version }),
    ...(actor && { actor }),
  };
  return { outcome: 'done', events: [{ type: 'ChallengerEnded', payload }] };
}

export function evolveChallengers(state: Challengers, { type, payload }: ChallengerEvent): Challengers {
  if (type === 'ChallengerStarted') return { ...state, running: [...state.running, payload] };
  const { challenger_id, applied_version: version } = payload;
  const running = state.running.filter((one) => one.challenger_id !== challenger_id);
  const ended = [...state.ended, { challenger_id, ...(version !== undefined && { version }) }];
  return { ...state, running, ended: ended.slice(-rememberedEnded) };
}

/** @returns undefined where none that runs has the id */
export function runningOf({ running }: Challengers, challengerId: string): Challenger | undefined {
  return running.find(({ challenger_id }) => challenger_id === challengerId);
}

/** @returns undefined where none that ended lately has the id */
export function endedOf({ ended }: Challengers, challengerId: string): EndedChallenger | undefined {
  return ended.find(({ challenger_id }) => challenger_id === challengerId);
}
