// What a document would change, as a person reads it. Pure.
import { filterLabel, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { JsonValue } from '@lead-scoring/contracts';

type Change = routeDeclarations.ConfigurationChange;
type Place = Pick<Change, 'kind' | 'ruleset' | 'name'>;

const limits = {
  /** Characters of a shown value and of a rule's name. */
  text: 200,
  changes: 2_000,
  /** Characters of all listed changes as JSON: an answer is one record on the log. */
  json: 400_000,
};

export class ChangeList {
  readonly #changes: Change[] = [];

  add(change: Change): void {
    this.#changes.push(change);
  }

  /** A change of the fields whose values differ. */
  change(place: Place, before: object, after: object): void {
    const was = new Map(Object.entries(before));
    const is = new Map(Object.entries(after));
    const fields = [...new Set([...was.keys(), ...is.keys()])].flatMap((field) => {
      const [one, other] = [shown(was.get(field)), shown(is.get(field))];
      return one === other ? [] : [{ field, before: one, after: other }];
    });
    this.add({ ...place, action: 'change', fields });
  }

  levels(kind: 'engagement_levels', before: readonly LevelWords[], after: readonly LevelWords[]): void {
    this.change({ kind, name: 'engagement levels' }, levelsByName(before), levelsByName(after));
  }

  /** The changes for an answer; `total` counts also those that it has no room for. */
  answer(): { total: number; changes: JsonValue[] } {
    const listed: JsonValue[] = [];
    let length = 0;
    for (const change of this.#changes.slice(0, limits.changes)) {
      length += JSON.stringify(change).length;
      if (length > limits.json) break;
      listed.push(change as unknown as JsonValue);
    }
    return { total: this.#changes.length, changes: listed };
  }
}

interface LevelWords {
  name: string;
  min_score: number | null;
  max_score: number | null;
  color: string;
}

function levelsByName(levels: readonly LevelWords[]): Record<string, string> {
  return Object.fromEntries(
    levels.map(({ name, min_score, max_score, color }) => [
      clip(name, 50),
      `${String(min_score ?? 'open')} to ${String(max_score ?? 'open')}, ${color}`,
    ]),
  );
}

/** A rule in words: its label, else what it matches. */
export function wordsOf({ label, event_type, attribute_filters }: records.FileRule): string {
  const filters = filterLabel(attribute_filters ?? []);
  return clip(label ?? (filters === undefined ? event_type : `${event_type}: ${filters}`), limits.text);
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return clip(value, limits.text);
  return clip(Array.isArray(value) ? filtersInWords(value as Filters) : JSON.stringify(value), limits.text);
}

type Filters = NonNullable<records.FileRule['attribute_filters']>;

function filtersInWords(filters: Filters): string {
  return filterLabel(filters) ?? '';
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
