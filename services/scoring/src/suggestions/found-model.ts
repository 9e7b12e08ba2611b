// The findings of a suggestion's steps, joined, and the answer that is made of them. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import { joinHistograms } from '../leads/histogram-fold.js';
import { sumOf } from '../what-if/statistics/histogram.js';
import { separationOf } from '../what-if/statistics/separation.js';
import { packCounts, unpackCounts } from '../what-if/packed-counts.js';
import { packRows, unpackRows } from './rows-model.js';
import { joinedSurvey } from './survey-model.js';

type Found = records.SuggestionFound;
type Side = NonNullable<Found['judged']>['live'];

/** What is suggested needs no more what it was learned from. */
export function joinedFound(one: Found, other: Found): Found {
  const suggested = other.suggested ?? one.suggested;
  if (suggested) {
    const judged = joinedParts(one.judged, other.judged, (left, right) => ({
      live: joinedSide(left.live, right.live),
      draft: joinedSide(left.draft, right.draft),
    }));
    return { suggested, ...(judged && { judged }) };
  }
  const survey = joinedParts(one.survey, other.survey, joinedSurvey);
  const rows = joinedParts(one.rows, other.rows, (left, right) =>
    packRows([...unpackRows(left), ...unpackRows(right)]),
  );
  return { ...(survey && { survey }), ...(rows && { rows }) };
}

function joinedParts<Part>(
  one: Part | undefined,
  other: Part | undefined,
  joined: (one: Part, other: Part) => Part,
): Part | undefined {
  return one && other ? joined(one, other) : (one ?? other);
}

function joinedSide(one: Side, other: Side): Side {
  const joined = (left: number[], right: number[]) =>
    packCounts(joinHistograms([unpackCounts(left), unpackCounts(right)]));
  return { won: joined(one.won, other.won), others: joined(one.others, other.others) };
}

const nobody: Side = { won: [], others: [] };
const nothing = { leads: 0, won: 0, changes: [], support: [] };

/** @param version of the configuration now */
export function suggestionResultOf(
  { suggested = nothing, judged = { live: nobody, draft: nobody } }: Found,
  { configuration_version }: Pick<records.SuggestionWork, 'configuration_version'>,
  version: number,
): routeDeclarations.SuggestionResult {
  const { changes, support, leads, won } = suggested;
  const heldOut = unpackCounts(judged.draft.won);
  return {
    changes,
    support,
    learned_from: { leads, won },
    held_out: {
      leads: sumOf(heldOut) + sumOf(unpackCounts(judged.draft.others)),
      won: sumOf(heldOut),
      ...separationIn(judged.draft),
      live: separationIn(judged.live),
    },
    configuration_version,
    overtaken: version !== configuration_version,
  };
}

function separationIn({ won, others }: Side): ReturnType<typeof separationOf> {
  return separationOf(unpackCounts(won), unpackCounts(others));
}
