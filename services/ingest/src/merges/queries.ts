// What a merge of leads would join, and the leads that events have named together.
import {
  leadFieldNames,
  metadataInForce,
  noMetadata,
  overridingFieldsOf,
  routeDeclarations,
  routes,
  shownFields,
  withLeadFields,
  type Alias,
  type LeadField,
  type LeadFields,
} from '@lead-scoring/contracts';
import { keysWithin, uuidBytes, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, problem, type BoundQuery, type QueryResult } from '@lead-scoring/service';
import pLimit from 'p-limit';
import { countAliases } from '../aliases/queries.js';
import { readDeletedTypes } from '../event-deletions/documents.js';
import { endOfWay, hasEvents, redirectsFrom } from '../events/leads-of-alias.js';
import { readLeadMetadata } from '../lead-metadata/documents.js';
import { leadsInConflict } from './conflicts.js';
import { leadConflicts } from './documents.js';
import { leadsToMerge } from './mergeable.js';
import { recordsOf } from './reads.js';

type Preview = QueryResult<typeof routes.previewLeadMerge>;
type Conflict = QueryResult<typeof routes.listLeadConflicts>['data'][number];

const { maximumListedConflicts } = routeDeclarations;
const maximumDuplicates = 100;
/** Look-ups that a process makes at the same time. */
const lookUp = pLimit(16);

export function mergeQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.previewLeadMerge, async ({ body, context: { ouId } }) => {
      const merged = await leadsToMerge(readModel, ouId, {
        target_id: body.target_id.toLowerCase(),
        source_ids: body.source_ids.map((leadId) => leadId.toLowerCase()),
      });
      if ('outcome' in merged) throw problem(merged.code, merged.message);
      const leads: PreviewedLead[] = [];
      for (const { lead_id } of [merged.target, ...merged.sources])
        leads.push(await previewedLead(readModel, ouId, lead_id));
      return previewOf(leads);
    }),
    bindQuery(routes.listLeadConflicts, async ({ query: { page, limit }, context: { ouId } }) => {
      const conflicts = await conflictsOf(readModel, ouId);
      const data = conflicts.slice((page - 1) * limit, page * limit);
      return { data, total: conflicts.length, page, limit };
    }),
  ];
}

interface PreviewedLead {
  readonly lead_id: string;
  readonly events: number;
  readonly aliases: number;
  /** Aliases that its events have named, by `alias_kind:alias`. */
  readonly named: ReadonlyMap<string, Alias>;
  /** As they are shown. */
  readonly fields: LeadFields;
  /** Fields that callers have set. */
  readonly overrides: readonly LeadField[];
}

async function previewedLead(readModel: ReadModel, ouId: string, leadId: string): Promise<PreviewedLead> {
  const deleted = await readDeletedTypes(readModel, ouId);
  const named = new Map<string, Alias>();
  let events = 0;
  let fields: LeadFields = {};
  for await (const { payload, ...place } of recordsOf(readModel, ouId, leadId)) {
    events += deleted.visibleIn(payload, place).length;
    for (const alias of payload.aliases)
      if (named.size < routeDeclarations.maximumListedAliases)
        named.set(`${alias.alias_kind}:${alias.alias}`, alias);
    if (payload.fields) fields = withLeadFields(fields, payload.fields);
  }
  const set = (await readLeadMetadata(readModel, [leadId])).get(leadId);
  const overrides = overridingFieldsOf(metadataInForce(set ?? noMetadata), set?.patched_at ?? '');
  return {
    lead_id: leadId,
    events,
    aliases: await countAliases(readModel, ouId, leadId),
    named,
    fields: shownFields(fields, overrides),
    overrides,
  };
}

function previewOf(leads: readonly PreviewedLead[]): Preview {
  const shown = leads.map(({ lead_id, events, aliases }) => ({ lead_id, events, aliases }));
  const [target, ...sources] = shown;
  if (!target) throw new Error('a preview has a target');
  return {
    target,
    sources,
    events: shown.reduce((sum, { events }) => sum + events, 0),
    duplicate_aliases: duplicatesIn(leads).slice(0, maximumDuplicates),
    field_conflicts: leadFieldNames.flatMap((field) => conflictOf(field, leads)),
    account_conflicts: companiesOf(leads),
  };
}

function duplicatesIn(leads: readonly PreviewedLead[]): Alias[] {
  const seen = new Map<string, number>();
  for (const { named } of leads) for (const key of named.keys()) seen.set(key, (seen.get(key) ?? 0) + 1);
  const all = new Map(leads.flatMap(({ named }) => [...named]));
  return [...all].flatMap(([key, alias]) => ((seen.get(key) ?? 0) > 1 ? [alias] : []));
}

function conflictOf(
  field: (typeof leadFieldNames)[number],
  leads: readonly PreviewedLead[],
): Preview['field_conflicts'] {
  const values = leads.flatMap(({ lead_id, fields }) => {
    const known = fields[field];
    return known ? [{ lead_id, ...known }] : [];
  });
  if (new Set(values.map(({ value }) => value)).size < 2) return [];
  const latest = values.reduce((one, other) => (other.at > one.at ? other : one));
  const set = leads.flatMap(({ overrides }) => overrides.find((one) => one.field === field) ?? []);
  return [{ field, values, kept: set[0]?.value ?? latest.value }];
}

/** Empty where all leads have the same company, or none has one. */
function companiesOf(leads: readonly PreviewedLead[]): Preview['account_conflicts'] {
  const companies = leads.map(({ lead_id, fields: { company } }) => ({
    lead_id,
    ...(company && { company: company.value }),
  }));
  return new Set(companies.map(({ company }) => company)).size > 1 ? companies : [];
}

/** Newest first, each pair once. */
async function conflictsOf(readModel: ReadModel, ouId: string): Promise<Conflict[]> {
  const stored = await withClassifiedErrors(() =>
    readModel
      .collection(leadConflicts)
      .find({ _id: keysWithin([ouId], 2 * uuidBytes) })
      .limit(maximumListedConflicts)
      .toArray(),
  );
  const found = stored.map(({ _id, named_at }) => ({ ...leadsInConflict(_id), named_at }));
  const redirectTo = await redirectsFrom(
    readModel,
    ouId,
    found.flatMap(({ alias_lead_id, lead_id }) => [alias_lead_id, lead_id]),
  );
  const pairs = new Map<string, Conflict>();
  await lookUp.map(found, async ({ alias_lead_id, lead_id, named_at }) => {
    const [source, target] = [endOfWay(alias_lead_id, redirectTo), endOfWay(lead_id, redirectTo)];
    if (source === target) return;
    const exist = await Promise.all([source, target].map((one) => hasEvents(readModel, ouId, one)));
    const key = [source, target].sort().join(' ');
    const known = pairs.get(key);
    if (exist.includes(false) || (known && known.named_at <= named_at)) return;
    const merge = { target_id: target, source_ids: [source] };
    pairs.set(key, { lead_ids: [target, source], named_at, merge });
  });
  return [...pairs.values()].sort((one, other) => other.named_at.localeCompare(one.named_at));
}
