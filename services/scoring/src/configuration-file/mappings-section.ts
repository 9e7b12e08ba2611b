// The mappings of a document: which event metadata feeds which profile field. Pure.
import { profileLimits, type records } from '@lead-scoring/contracts';
import { noProfile, type ProfileMapping } from '@lead-scoring/scoring-domain';
import type { Refusal } from '../configuration/messages.js';
import { duplicateMapping, readsTheSame, tooManyMappings } from '../profile/decide-configuration.js';
import { canonicalText } from './canonical-text-model.js';
import { inPlace, type Plan } from './plan.js';

type FileMapping = records.FileMapping;

/**
 * A mapping is never changed, and a new one comes after all others. So each field keeps as many mappings, from its first one on, as stand
 * in the order of the document; those that come after are made anew.
 */
export function planMappings(plan: Plan): Refusal | null {
  const wanted = plan.file.profile_mappings;
  if (!wanted) return null;
  const refusal = refusalOf(wanted);
  if (refusal) return refusal;
  const known = [...(plan.before.profile ?? noProfile).mappings.values()];
  const kept = keptMappings(known, wanted);
  for (const mapping of known) if (!kept.has(mapping)) removeMapping(plan, mapping, wanted);
  const left = new Set([...kept].map(textOf));
  for (const [index, mapping] of wanted.entries())
    if (!left.has(textOf(mapping))) addMapping(plan, { known, wanted }, index, mapping);
  return null;
}

function refusalOf(wanted: readonly FileMapping[]): Refusal | null {
  for (const [index, mapping] of wanted.entries()) {
    const same = wanted.slice(0, index).find((other) => readsTheSame(other, mapping));
    if (same)
      return inPlace(duplicateMapping(same), {
        path: `body.profile_mappings[${String(index)}]`,
        words: `profile_mappings, ${wordsOf(mapping)}`,
      });
  }
  return wanted.length > profileLimits.mappings ? tooManyMappings() : null;
}

/** The mappings that need not be made anew. */
function keptMappings(known: readonly ProfileMapping[], wanted: readonly FileMapping[]): Set<ProfileMapping> {
  const kept = new Set<ProfileMapping>();
  for (const field of new Set(wanted.map((mapping) => mapping.field))) {
    let rest = known.filter((mapping) => mapping.field === field);
    for (const mapping of wanted.filter((one) => one.field === field)) {
      const at = rest.findIndex((one) => textOf(one) === textOf(mapping));
      const found = rest[at];
      if (!found) break;
      kept.add(found);
      rest = rest.slice(at + 1);
    }
  }
  return kept;
}

function removeMapping(plan: Plan, mapping: ProfileMapping, wanted: readonly FileMapping[]): void {
  plan.events.push({ type: 'ProfileMappingRemoved', payload: { ...plan.stamp, mapping_id: mapping.id } });
  if (!wanted.some((other) => readsTheSame(other, mapping)))
    plan.changes.add({ ...placeOf(mapping), action: 'remove' });
}

function addMapping(
  plan: Plan,
  { known, wanted }: { known: readonly ProfileMapping[]; wanted: readonly FileMapping[] },
  index: number,
  mapping: FileMapping,
): void {
  const mapping_id = plan.idOf(`mapping:${String(index)}`);
  plan.events.push({ type: 'ProfileMappingAdded', payload: { ...plan.stamp, mapping_id, ...mapping } });
  const present = known.find((other) => readsTheSame(other, mapping));
  if (!present) plan.changes.add({ ...placeOf(mapping), action: 'add' });
  else
    plan.changes.change(
      placeOf(mapping),
      { ...contentOf(present), place: placeAmong(known, present) },
      { ...contentOf(mapping), place: placeAmong(wanted, mapping) },
    );
}

/** The place among the mappings that feed the same field: `2 of 3`. */
function placeAmong(mappings: readonly FileMapping[], mapping: FileMapping): string {
  const others = mappings.filter(({ field }) => field === mapping.field);
  return `${String(others.indexOf(mapping) + 1)} of ${String(others.length)}`;
}

function placeOf(mapping: FileMapping) {
  return { section: 'profile_mappings', kind: 'mapping', name: wordsOf(mapping) } as const;
}

function wordsOf({ field, source }: FileMapping): string {
  return `${field} from ${source}`;
}

function contentOf({ field, source, transform }: FileMapping): FileMapping {
  return { field, source, ...(transform && { transform }) };
}

function textOf(mapping: FileMapping): string {
  return canonicalText(contentOf(mapping));
}
