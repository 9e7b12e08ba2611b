// The saved filters of a document. Its conditions name rulesets and levels; recorded ones hold the ids of rulesets. Pure.
import {
  mapConditions,
  records,
  type DocumentFilterGroup,
  type LeadFilterGroup,
} from '@lead-scoring/contracts';
import {
  leadFilterLabel,
  unknownReferences,
  type SavedFilter,
  type ScoringConfiguration,
  type UnknownReference,
} from '@lead-scoring/scoring-domain';
import { nameTaken } from '../configuration/decision-model.js';
import type { Refusal } from '../configuration/messages.js';
import { lengthOfConditions, maximumFiltersLength, tooLong, tooManyFilters } from '../filters/decide.js';
import { refusalOfReferences } from '../filters/reference-model.js';
import { canonicalText } from './canonical-text-model.js';
import { inPlace, quoted, unknownRuleset, type Plan } from './plan.js';

/** Planned last: filters name the rulesets and levels that the document makes. */
export function planFilters(plan: Plan): Refusal | null {
  const wanted = plan.file.filters;
  if (!wanted) return null;
  const { filters } = plan.before;
  const after = plan.after();
  const idsByName = new Map([...after.rulesets.values()].map(({ name, id }) => [name.toLowerCase(), id]));
  const known = new Map([...filters.values()].map((filter) => [filter.name.toLowerCase(), filter]));
  const named = new Set(wanted.map(({ name }) => name.toLowerCase()));
  for (const [name, filter] of known) if (!named.has(name)) removeFilter(plan, filter);
  const seen = new Set<string>();
  let length = 0;
  for (const [index, filter] of wanted.entries()) {
    const place = { path: `body.filters[${String(index)}]`, words: `filters, ${quoted(filter.name)}` };
    const name = filter.name.toLowerCase();
    const taken = seen.has(name) ? nameTaken('filter', filter.name, [filter]) : null;
    if (taken) return inPlace(taken, place);
    seen.add(name);
    const present = known.get(name);
    const conditions = conditionsFor(filter, present, { plan, after, idsByName });
    if ('unknown' in conditions) return inPlace(refusalOf(conditions.unknown, after), place);
    length += lengthOfConditions(conditions.group);
    planFilter(plan, { name: filter.name, conditions: conditions.group }, { present, after });
  }
  if (wanted.length > records.maximumFilters) return tooManyFilters();
  return length > maximumFiltersLength ? tooLong() : null;
}

/** The conditions in the form of a document: with the names of rulesets, and of levels that are given by id. */
export function documentConditions(
  group: LeadFilterGroup,
  { rulesets, levels, profile_levels = [] }: ScoringConfiguration,
): DocumentFilterGroup {
  return mapConditions(group, ({ field, ruleset_id, value, ...rest }) => {
    const known = field === 'level' ? levels : field === 'profile_level' ? profile_levels : [];
    const nameOf = <Value>(one: Value) =>
      typeof one === 'string' ? (known.find(({ id }) => id === one.toLowerCase())?.name ?? one) : one;
    const named = Array.isArray(value) ? value.map(nameOf) : nameOf(value);
    return {
      field,
      ...(ruleset_id !== undefined && {
        ruleset: rulesets.get(ruleset_id.toLowerCase())?.name ?? ruleset_id,
      }),
      ...rest,
      ...(named !== undefined && { value: named }),
    };
  });
}

interface Surroundings {
  plan: Plan;
  after: ScoringConfiguration;
  /** The ids of the rulesets after the change, by their names in lower case. */
  idsByName: ReadonlyMap<string, string>;
}

/**
 * The conditions to record, or what they name that there is not. A filter that is kept as it is may name what has been gone before: it
 * is in the document because it is in the configuration.
 */
function conditionsFor(
  { conditions }: records.FileFilter,
  present: SavedFilter | undefined,
  { plan, after, idsByName }: Surroundings,
): { group: LeadFilterGroup } | { unknown: UnknownReference[] } {
  const group: LeadFilterGroup = mapConditions(conditions, ({ ruleset, ...condition }) => ({
    ...condition,
    ...(ruleset !== undefined && { ruleset_id: idsByName.get(ruleset.toLowerCase()) ?? ruleset }),
  }));
  const unknown = unknownReferences(group, after);
  if (unknown.length === 0) return { group };
  if (!present || canonicalText(documentConditions(present.conditions, after)) !== canonicalText(conditions))
    return { unknown };
  const before = new Set(unknownReferences(present.conditions, plan.before).map(({ path }) => path));
  const lost = unknown.filter(({ path }) => !before.has(path));
  return lost.length > 0 ? { unknown: lost } : { group: present.conditions };
}

function refusalOf(unknown: UnknownReference[], after: ScoringConfiguration): Refusal {
  const [first] = unknown;
  const refusal = refusalOfReferences(unknown, after);
  if (!first || !refusal) throw new Error('what a filter names is unknown, and not refused');
  if (first.kind !== 'ruleset') return { outcome: 'rejected', ...refusal };
  return {
    outcome: 'rejected',
    ...refusal,
    message: unknownRuleset(first.named).message,
    errors: refusal.errors.map(({ path, message }) => ({
      path: path.replace(/ruleset_id$/, 'ruleset'),
      message,
    })),
  };
}

function planFilter(
  plan: Plan,
  wanted: { name: string; conditions: LeadFilterGroup },
  { present, after }: { present: SavedFilter | undefined; after: ScoringConfiguration },
): void {
  if (!present) {
    const filter_id = plan.idOf(`filter:${wanted.name.toLowerCase()}`);
    plan.events.push({ type: 'FilterCreated', payload: { ...plan.stamp, filter_id, ...wanted, version: 1 } });
    plan.changes.add({ ...placeOf(wanted.name), action: 'add' });
    return;
  }
  if (wanted.name === present.name && canonicalText(wanted.conditions) === canonicalText(present.conditions))
    return;
  const { id: filter_id, version } = present;
  plan.events.push({
    type: 'FilterUpdated',
    payload: { ...plan.stamp, filter_id, ...wanted, version: version + 1 },
  });
  plan.changes.change(
    placeOf(wanted.name),
    { name: present.name, conditions: leadFilterLabel(present.conditions, plan.before) },
    { name: wanted.name, conditions: leadFilterLabel(wanted.conditions, after) },
  );
}

function removeFilter(plan: Plan, { id, name }: SavedFilter): void {
  plan.events.push({ type: 'FilterDeleted', payload: { ...plan.stamp, filter_id: id } });
  plan.changes.add({ ...placeOf(name), action: 'remove' });
}

function placeOf(name: string) {
  return { section: 'filters', kind: 'filter', name } as const;
}
