// The pieces of scoring's jobs that read the recorded history: seconds of computing each. The process performs them in threads of low
// priority, so that live events do not wait for them; a test performs them where it is.
import type { records } from '@lead-scoring/contracts';
import type { EventLog } from '@lead-scoring/event-log';
import { findNews, type News } from '../challengers/news.js';
import {
  advanceGroup,
  rescoreGroup,
  type AdvancedGroup,
  type RescoredLeads,
  type RescoringGroup,
} from '../rescoring/group.js';
import { findForSuggestion, type SuggestionStep } from '../suggestions/step.js';
import { findInGroup, type WhatIfGroup } from '../what-if/group.js';

/** Inputs and results are plain data: they are copied from thread to thread. */
interface Tasks {
  readonly 'what-if': { readonly input: WhatIfGroup; readonly result: records.WhatIfFound };
  readonly suggestion: {
    readonly input: SuggestionStep;
    readonly result: Awaited<ReturnType<typeof findForSuggestion>>;
  };
  /** Of challengers: whether anything has come. */
  readonly news: { readonly input: News; readonly result: boolean };
  readonly rescoring: { readonly input: RescoringGroup; readonly result: RescoredLeads };
  /** Of rescorings: prepared leads, with what has happened since. */
  readonly advance: {
    readonly input: AdvancedGroup;
    readonly result: Awaited<ReturnType<typeof advanceGroup>>;
  };
}

export type TaskName = keyof Tasks;
export type TaskInput<Name extends TaskName> = Tasks[Name]['input'];
export type TaskResult<Name extends TaskName> = Tasks[Name]['result'];

export const replayTasks: {
  readonly [Name in TaskName]: (
    input: TaskInput<Name>,
    log: EventLog,
    signal: AbortSignal,
  ) => Promise<TaskResult<Name>>;
} = {
  'what-if': findInGroup,
  suggestion: findForSuggestion,
  news: findNews,
  rescoring: rescoreGroup,
  advance: advanceGroup,
};

export interface TaskPerformer {
  /** How many tasks it performs at a time. */
  readonly width: number;
  /** @throws a retriable error where a server is away; the signal's reason once it is aborted */
  perform<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    signal: AbortSignal,
  ): Promise<TaskResult<Name>>;
  /** Does what a job has to do in the caller's thread, so that tasks do not rest for it as for live events. */
  apart<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Performs tasks in the caller's thread, one at a time. */
export function performHere(log: () => EventLog): TaskPerformer {
  return {
    width: 1,
    perform: (name, input, signal) => replayTasks[name](input, log(), signal),
    apart: (work) => work(),
  };
}
