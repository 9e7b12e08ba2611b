// A lead's state as short text: an event that several sequences have matched is in it once. States change with nearly every
// event, and PostgreSQL, which stores the documents, takes three times as long to write a row above two kilobytes.
import type { JsonValue } from '@lead-scoring/contracts';
import { packJson, unpackJson } from '@lead-scoring/read-model';
import {
  type Gain,
  type KeptMemory,
  type LeadState,
  noDeletions,
  type StepMatch,
  type Timeline,
  type TimelineEntry,
} from '@lead-scoring/scoring-domain/triggers';

/** A lead's state without the lead's ids. */
export type RememberedState = Omit<LeadState, 'ou_id' | 'lead_id'>;

interface Content {
  seen: LeadState['seen'];
  memories: [trigger: string, memory: KeptMemory][];
  /** Event types, and matched events: id, index of the type in `types`, event time in milliseconds. */
  types: string[];
  events: [id: string, type: number, at: number][];
  matches: [sequence: string, newest: Newest, entries: MatchText[]][];
  gains: [eventType: string, newest: Newest, entries: GainText[]][];
  /** Absent where no topic has reported a deletion. */
  deletions?: LeadState['deletions'];
}

/** Event time in milliseconds; null: the time of the last entry. */
type Newest = number | null;
/** `event` is an index in `events`. */
type MatchText = [event: number, version: number, ...steps: number[]];
type GainText = [at: number, points: number, version: number];

/** The form of states that were stored by earlier versions. */
interface FormerContent extends Pick<Content, 'seen' | 'memories' | 'deletions'> {
  matches: [string, Timeline<StepMatch>][];
  gains: [string, Timeline<Gain>][];
}

export function packState({ seen, memories, matches, gains, deletions }: RememberedState): string {
  const types = new UniqueValues<string>();
  const events = new UniqueValues<Content['events'][number]>();
  const content: Content = {
    seen,
    memories: [...memories],
    matches: [...matches].map(([sequence, { newest, entries }]) => [
      sequence,
      newestIn(newest, entries),
      entries.map(({ at, event_id, event_type, steps, configuration_version }) => {
        const type = types.of(event_type, event_type);
        const event = events.of(`${String(type)} ${String(at)} ${event_id}`, [event_id, type, at]);
        return [event, configuration_version, ...steps];
      }),
    ]),
    gains: [...gains].map(([eventType, { newest, entries }]) => [
      eventType,
      newestIn(newest, entries),
      entries.map(({ at, points, configuration_version }) => [at, points, configuration_version]),
    ]),
    types: types.all,
    events: events.all,
    ...(Object.values(deletions).some((id) => id !== null) && { deletions }),
  };
  return packJson(content as unknown as JsonValue);
}

export function unpackState(text: string): RememberedState {
  const content = unpackJson(text) as unknown as Content | FormerContent;
  const { seen, memories, deletions = noDeletions } = content;
  return { seen, memories: new Map(memories), deletions, ...timelinesIn(content) };
}

function timelinesIn(content: Content | FormerContent): Pick<RememberedState, 'matches' | 'gains'> {
  if (!('events' in content)) return { matches: new Map(content.matches), gains: new Map(content.gains) };
  const { types, events } = content;
  const matchOf = ([place, configuration_version, ...steps]: MatchText): StepMatch => {
    const [event_id, type, at] = events[place] ?? [];
    const event_type = type === undefined ? undefined : types[type];
    if (event_id === undefined || at === undefined || event_type === undefined)
      throw new Error('a stored match refers to an event that is missing in the state');
    return { at, event_id, event_type, steps, configuration_version };
  };
  const gainOf = ([at, points, configuration_version]: GainText): Gain => ({
    at,
    points,
    configuration_version,
  });
  return {
    matches: new Map(
      content.matches.map(([sequence, newest, entries]) => [
        sequence,
        timeline(newest, entries.map(matchOf)),
      ]),
    ),
    gains: new Map(
      content.gains.map(([eventType, newest, entries]) => [eventType, timeline(newest, entries.map(gainOf))]),
    ),
  };
}

function newestIn(newest: number, entries: readonly TimelineEntry[]): Newest {
  return newest === entries.at(-1)?.at ? null : newest;
}

function timeline<Entry extends TimelineEntry>(newest: Newest, entries: Entry[]): Timeline<Entry> {
  return { newest: newest ?? entries.at(-1)?.at ?? 0, entries };
}

/** Distinct values in the order of their first occurrence. */
class UniqueValues<Value> {
  readonly all: Value[] = [];
  readonly #places = new Map<string, number>();

  of(name: string, value: Value): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    this.#places.set(name, this.all.length);
    return this.all.push(value) - 1;
  }
}
