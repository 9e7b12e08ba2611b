// Decides on an OU's saved filters of leads: pure; time and ids come with the command.
import { records, type LeadFilterGroup } from '@lead-scoring/contracts';
import { unknownReferences, type SavedFilter, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { done, filterNotFoundMessage, limitReached, nameTaken } from '../configuration/decision-model.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import { refusalOfReferences } from './reference-model.js';

/** The size of all conditions of an OU as JSON: each process that scores its leads holds them. */
export const maximumFiltersLength = 1_000_000;

export function createFilter(
  { ou_id, filter_id, name, conditions, requested_at }: records.CreateFilter,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  if (configuration.filters.has(filter_id)) return done();
  const refusal = refusalOfName(name, undefined, configuration) ?? refusalOf(conditions, configuration);
  if (refusal) return refusal;
  if (configuration.filters.size >= records.maximumFilters) return tooManyFilters();
  if (isTooLong(conditions, undefined, configuration)) return tooLong();
  return done({
    type: 'FilterCreated',
    payload: { ou_id, filter_id, name, conditions, version: 1, at: requested_at },
  });
}

/** A filter whose level is gone may still get another name. */
export function updateFilter(
  { ou_id, filter_id, name, conditions, requested_at }: records.UpdateFilter,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const known = configuration.filters.get(filter_id.toLowerCase());
  if (!known) return filterNotFound();
  const changed = { name: name ?? known.name, conditions: conditions ?? known.conditions };
  const hasSameConditions = JSON.stringify(changed.conditions) === JSON.stringify(known.conditions);
  if (changed.name === known.name && hasSameConditions) return done();
  const refusal =
    refusalOfName(changed.name, known, configuration) ??
    (hasSameConditions ? null : refusalOf(changed.conditions, configuration));
  if (refusal) return refusal;
  if (isTooLong(changed.conditions, known, configuration)) return tooLong();
  return done({
    type: 'FilterUpdated',
    payload: { ou_id, filter_id: known.id, ...changed, version: known.version + 1, at: requested_at },
  });
}

export function deleteFilter(
  { ou_id, filter_id, requested_at }: records.DeleteFilter,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const known = configuration.filters.get(filter_id.toLowerCase());
  if (!known) return filterNotFound();
  return done({ type: 'FilterDeleted', payload: { ou_id, filter_id: known.id, at: requested_at } });
}

function refusalOfName(
  name: string,
  known: SavedFilter | undefined,
  { filters }: ScoringConfiguration,
): ConfigurationDecision | null {
  return nameTaken(
    'filter',
    name,
    [...filters.values()].filter((filter) => filter !== known),
  );
}

function refusalOf(
  conditions: LeadFilterGroup,
  configuration: ScoringConfiguration,
): ConfigurationDecision | null {
  const refusal = refusalOfReferences(unknownReferences(conditions, configuration), configuration);
  return refusal && { outcome: 'rejected', ...refusal };
}

function isTooLong(
  conditions: LeadFilterGroup,
  replaced: SavedFilter | undefined,
  { filters }: ScoringConfiguration,
): boolean {
  let length = lengthOfConditions(conditions);
  for (const filter of filters.values())
    if (filter !== replaced) length += lengthOfConditions(filter.conditions);
  return length > maximumFiltersLength;
}

export function lengthOfConditions(conditions: LeadFilterGroup): number {
  return JSON.stringify(conditions).length;
}

export function tooLong(): Refusal {
  return limitReached(
    `The filters of an organizational unit may take ${String(maximumFiltersLength / 1_000_000)} MB in all. Use shorter lists of values.`,
  );
}

export function tooManyFilters(): Refusal {
  return limitReached(
    `An organizational unit holds at most ${String(records.maximumFilters)} filters. Delete one that is not needed any more.`,
  );
}

function filterNotFound(): ConfigurationDecision {
  return { outcome: 'rejected', code: 'filter_not_found', message: filterNotFoundMessage };
}
