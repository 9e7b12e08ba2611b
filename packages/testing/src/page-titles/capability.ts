// The titles of web pages: asked for by a command, fetched beside the log, and recorded by a command that answers all callers.
import {
  callerHeaders,
  callerOf,
  effect,
  storedAsDocuments,
  storedWith,
  unfinishedIndex,
  type AggregateDecision,
  type AggregateShape,
  type Caller,
  type ChangedState,
  type EffectWork,
  type UnfinishedDocument,
} from '@lead-scoring/capability';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import {
  defineCollection,
  findByIds,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  fetchTitle,
  recordTitle,
  titleAsked,
  titleFetched,
  type TitleCommand,
  type TitleEvent,
} from './messages.js';

export interface Title {
  page: { ou_id: string; page_id: string; url: string };
  caller: Caller | null;
  /** null: being fetched. */
  title: string | null;
}
type State = Title | null;
type Event = TitleEvent & { caller: Caller | null };

interface PageTitle extends AggregateShape {
  state: State;
  command: TitleCommand & { caller: Caller | null };
  event: Event;
}

function decide({ type, payload, caller }: PageTitle['command'], state: State): AggregateDecision<PageTitle> {
  switch (type) {
    case 'FetchTitle':
      if (!state) return { outcome: 'unanswered', events: [{ type: 'TitleAsked', payload, caller }] };
      return state.title === null ? { outcome: 'awaited' } : answered(state.title);
    case 'RecordTitle':
      // The first one counts: an earlier owner may have fetched it as well.
      if (state?.title !== null) return { outcome: 'unanswered', events: [] };
      return answered(payload.title, { type: 'TitleFetched', payload, caller: null });
  }
}

function answered(title: string, ...events: Event[]): AggregateDecision<PageTitle> {
  return { outcome: 'answered', events, reply: { outcome: 'done', result: title } };
}

function evolve(state: State, { type, payload, caller }: Event): State {
  if (type === 'TitleAsked') return { page: payload, caller, title: null };
  return state && { ...state, title: payload.title };
}

/** The command that ends the fetching of a title; its reply goes to the caller that asked first. */
export function endOf({ page: { ou_id, page_id }, caller }: Title, title: string): OutgoingRecord {
  const payload = { ou_id, page_id, title };
  return outgoing(recordTitle, { key: ou_id, payload, headers: callerHeaders(caller) });
}

interface TitleDocument extends GuardedDocument {
  _id: Binary;
  title: Title;
}
const titles = defineCollection<TitleDocument>({ name: 'titles', indexes: [] });
const beingFetched = unfinishedIndex<State>({
  collection: defineCollection<UnfinishedDocument>({ name: 'titles_being_fetched', indexes: [] }),
  idOf: uuidToBinary,
  isUnfinished: (state) => state?.title === null,
});

function withCaller(record: IncomingRecord): object {
  return { type: record.type, payload: record.payload, caller: callerOf(record) };
}

/** @param work fetches what states ask for, in one partition */
export function pageTitles(
  work: (
    unfinished: () => Promise<Title[]>,
    partition: number,
  ) => EffectWork<readonly ChangedState<State, Event>[]>,
) {
  return effect<PageTitle>({
    name: 'page-titles',
    commands: { FetchTitle: fetchTitle, RecordTitle: recordTitle },
    events: { TitleAsked: titleAsked, TitleFetched: titleFetched },
    keyOf: ({ payload }) => payload.page_id,
    recordKeyOf: ({ payload }) => payload.ou_id,
    initial: () => null,
    decide,
    evolve,
    commandFrom: (record) => withCaller(record) as PageTitle['command'],
    eventFrom: (record) => withCaller(record) as Event,
    headersOf: ({ caller }) => callerHeaders(caller),
    stored: storedWith(
      storedAsDocuments<State, TitleDocument>({
        collection: titles,
        idOf: uuidToBinary,
        toState: ({ title }) => title,
        toDocument: (title, at) => title && { _id: uuidToBinary(title.page.page_id), title, ...at },
      }),
      [beingFetched],
    ),
    work: ({ readModel, partition }) => work(() => findUnfinished(readModel, partition), partition),
  });
}

async function findUnfinished(readModel: ReadModel, partition: number): Promise<Title[]> {
  const ids = await beingFetched.find(readModel, partition);
  return (await findByIds(readModel.collection(titles), ids)).map(({ title }) => title);
}
