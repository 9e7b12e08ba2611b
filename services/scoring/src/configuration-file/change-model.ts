// What a document would change, as a person reads it. Pure.
import {
  filterLabel,
  records,
  type AttributeFilter,
  type Grid,
  type JsonValue,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import type { KeptRule, RuleKind } from './rule-kinds-model.js';

type Change = routeDeclarations.ConfigurationChange;
type SectionChanges = routeDeclarations.ConfigurationSectionChanges;
type Place = Pick<Change, 'section' | 'kind' | 'ruleset' | 'name'>;

const limits = {
  /** Characters of a shown value and of a rule's name. */
  text: 200,
  changes: 2_000,
  /** Characters of all listed changes as JSON: an answer is one record on the log. */
  json: 400_000,
};

/** What each kind of change adds to. */
const counts = { add: 'added', change: 'changed', remove: 'removed' } as const;

export class ChangeList {
  readonly #changes: Change[] = [];
  readonly #sections: SectionChanges[];

  /** @param file the document: its sections are counted, also those that change nothing */
  constructor(file: records.ConfigurationFile) {
    this.#sections = records.configurationSections
      .filter((section) => file[section] !== undefined)
      .map((section) => ({ section, added: 0, changed: 0, removed: 0 }));
  }

  add(change: Change): void {
    this.#changes.push(change);
    const counted = this.#sections.find(({ section }) => section === change.section);
    if (counted) counted[counts[change.action]] += 1;
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

  levels(
    section: 'engagement_levels' | 'profile_levels' | 'account_levels',
    before: readonly records.FileLevel[],
    after: readonly records.FileLevel[],
  ): void {
    const [one, other] = [levelsByName(before), levelsByName(after)];
    const place = { section, kind: 'levels', name: section.replace('_', ' ') } as const;
    if (isSameSet(one, other)) this.change(place, { order: namesOf(before) }, { order: namesOf(after) });
    else this.change(place, one, other);
  }

  grid(before: Grid | null, after: Grid | null): void {
    const place = { section: 'grid', kind: 'grid', name: 'grid' } as const;
    this.change(place, gradesOf(before), gradesOf(after));
  }

  /** The changes for an answer; `total` counts also those that it has no room for. */
  answer(): { total: number; sections: JsonValue[]; changes: JsonValue[] } {
    const listed: JsonValue[] = [];
    let length = 0;
    for (const change of this.#changes.slice(0, limits.changes)) {
      length += JSON.stringify(change).length;
      if (length > limits.json) break;
      listed.push(change as unknown as JsonValue);
    }
    return {
      total: this.#changes.length,
      sections: this.#sections.map((section) => ({ ...section })),
      changes: listed,
    };
  }
}

function levelsByName(levels: readonly records.FileLevel[]): Record<string, string> {
  return Object.fromEntries(
    levels.map(({ name, min_score, max_score, color }) => [
      clip(name, 50),
      `${String(min_score ?? 'open')} to ${String(max_score ?? 'open')}, ${color}`,
    ]),
  );
}

function isSameSet(one: Record<string, string>, other: Record<string, string>): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}

function namesOf(levels: readonly records.FileLevel[]): string {
  return levels.map(({ name }) => name).join(', ');
}

function gradesOf(grid: Grid | null): Record<string, number> {
  if (!grid) return {};
  const grades = (of: 'profile' | 'engagement') =>
    Object.entries(grid[of]).map(([grade, lowest]) => [`${of} ${grade} from`, lowest] as const);
  return Object.fromEntries([...grades('profile'), ...grades('engagement')]);
}

/** A rule in words: its label, else what it matches. */
export function wordsOfRule<FileRule extends object, Kept extends KeptRule>(
  { labelOf, matches }: RuleKind<FileRule, Kept>,
  rule: FileRule,
): string {
  return clip(labelOf(rule) ?? matches(rule), limits.text);
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return clip(value, limits.text);
  return clip(isFilters(value) ? (filterLabel(value) ?? '') : JSON.stringify(value), limits.text);
}

function isFilters(value: unknown): value is AttributeFilter[] {
  return (
    Array.isArray(value) &&
    value.every((one: unknown) => typeof one === 'object' && one !== null && 'operator' in one)
  );
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
