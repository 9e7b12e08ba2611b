// A resolved filter as a query of the stored leads. It gives the same leads as matchesResolved: query.int.test.ts compares the two.
// Values reach the database as operands of operators that are named here; texts are escaped in patterns.
import { equals, escapeForRegex, type Filter } from '@lead-scoring/read-model';
import type { FilterRange, ResolvedFilter } from '@lead-scoring/scoring-domain';
import type { LeadDocument } from '../leads/documents.js';

type LeadQuery = Filter<LeadDocument>;

/** Every lead has an id. */
const noLead: LeadQuery = { _id: { $exists: false } };
const everyLead: LeadQuery = { _id: { $exists: true } };

export function queryOf(filter: ResolvedFilter): LeadQuery {
  switch (filter.kind) {
    case 'all':
      return filter.parts.length === 0 ? everyLead : { $and: filter.parts.map(queryOf) };
    case 'any':
      return anyOf(filter.parts.map(queryOf));
    case 'not':
      return { $nor: [queryOf(filter.part)] };
    case 'present':
      return { [textPath(filter.field)]: { $exists: true } };
    case 'text':
      return textQuery(filter);
    case 'number':
      return anyOf(
        filter.ranges.map((range) =>
          filter.field === 'profile_score' ? profileQuery(range) : { [filter.field]: rangeQuery(range) },
        ),
      );
    case 'ruleset':
      return anyOf(filter.ranges.map((range) => rulesetQuery(filter.ruleset_id, range)));
    case 'time':
      return anyOf(filter.ranges.map((range) => ({ [filter.field]: rangeQuery(range) })));
  }
}

function anyOf(queries: LeadQuery[]): LeadQuery {
  const [only] = queries;
  if (!only) return noLead;
  return queries.length === 1 ? only : { $or: queries };
}

function textPath(field: Extract<ResolvedFilter, { kind: 'text' }>['field']): string {
  return `lowered.${field}`;
}

/** A pattern has one text, and no repetition: matching takes linear time. Of a list, any element may match. */
function textQuery({ field, how, values }: Extract<ResolvedFilter, { kind: 'text' }>): LeadQuery {
  const path = textPath(field);
  if (how === 'equals') return values.length === 0 ? noLead : { [path]: { $in: [...values] } };
  const [start, end] = { contains: ['', ''], starts_with: ['^', ''], ends_with: ['', '\\z'] }[how];
  return anyOf(values.map((value) => ({ [path]: { $regex: `${start}${escapeForRegex(value)}${end}` } })));
}

function rangeQuery<Value extends number | string>({ from, above, to, below }: FilterRange<Value>) {
  return {
    ...(from !== undefined && { $gte: from }),
    ...(above !== undefined && { $gt: above }),
    ...(to !== undefined && { $lte: to }),
    ...(below !== undefined && { $lt: below }),
    // A range that is open at both ends, such as that of a level that takes every score.
    ...(from === undefined &&
      above === undefined &&
      to === undefined &&
      below === undefined && { $exists: true }),
  };
}

/** A lead lists the rulesets that gave it points; every other has given 0. */
function rulesetQuery(rulesetId: string, range: FilterRange<number>): LeadQuery {
  const listed: LeadQuery = {
    rulesets: { $elemMatch: { ruleset_id: equals(rulesetId), score: rangeQuery(range) } },
  };
  if (!holdsZero(range)) return listed;
  return { $or: [listed, { $nor: [{ rulesets: { $elemMatch: { ruleset_id: equals(rulesetId) } } }] }] };
}

/** A lead without a profile score has 0. */
function profileQuery(range: FilterRange<number>): LeadQuery {
  const within: LeadQuery = { profile_score: rangeQuery(range) };
  return holdsZero(range) ? { $or: [within, { profile_score: { $exists: false } }] } : within;
}

function holdsZero({
  from = -Infinity,
  above = -Infinity,
  to = Infinity,
  below = Infinity,
}: FilterRange<number>): boolean {
  return from <= 0 && above < 0 && to >= 0 && below > 0;
}
