// A saved filter in an OU's configuration, and its fold. Pure.
import {
  shownActor,
  type Actor,
  type LeadFilterGroup,
  type records,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { leadFilterLabel, type RulesetNames } from './label.js';

export interface SavedFilter {
  readonly id: string;
  readonly name: string;
  readonly conditions: LeadFilterGroup;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly changed_by?: Actor | undefined;
}

export type FilterEvent =
  | { type: 'FilterCreated'; payload: records.FilterCreated }
  | { type: 'FilterUpdated'; payload: records.FilterUpdated }
  | { type: 'FilterDeleted'; payload: records.FilterDeleted };

type Filters = ReadonlyMap<string, SavedFilter>;

/** The filters after an event, in the order of their creation. */
export function evolveFilters(filters: Filters, { type, payload }: FilterEvent): Filters {
  const changed = new Map(filters);
  if (type === 'FilterDeleted') {
    changed.delete(payload.filter_id);
    return changed;
  }
  const { filter_id: id, name, conditions, version, at, actor } = payload;
  const created_at = filters.get(id)?.created_at ?? at;
  return changed.set(id, {
    id,
    name,
    conditions,
    version,
    created_at,
    updated_at: at,
    changed_by: shownActor(actor),
  });
}

/** The filter as its routes answer with it. */
export function filterAnswer(
  { changed_by, ...filter }: SavedFilter,
  configuration: RulesetNames,
): routeDeclarations.LeadFilter {
  return {
    ...filter,
    filter_label: leadFilterLabel(filter.conditions, configuration),
    ...(changed_by && { changed_by }),
  };
}
