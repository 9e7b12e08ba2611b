// Decides on an OU's engagement levels: pure. No two levels of an OU overlap.
import { nameBasedId, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ConfigurationEvent, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { ConfigurationDecision } from '../configuration/messages.js';

type Level = routeDeclarations.EngagementLevel;
type Bounds = Pick<Level, 'min_score' | 'max_score'>;

export function setEngagementLevels(
  command: records.SetEngagementLevels,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  return decideLevels(command, configuration, {
    known: configuration.levels,
    kind: 'level',
    event: (payload) => ({ type: 'EngagementLevelsSet', payload }),
  });
}

interface LevelKind {
  /** The present list. */
  known: readonly Level[];
  /** A part of the names that new ids are made of. */
  kind: 'level' | 'profile-level' | 'account-level';
  event: (payload: records.EngagementLevelsSet) => ConfigurationEvent;
}

/** Replaces the whole list. A repeated list is a no-op, even if its levels are sent without ids. */
export function decideLevels(
  command: Pick<records.SetEngagementLevels, 'ou_id' | 'levels' | 'requested_at'>,
  { version }: Pick<ScoringConfiguration, 'version'>,
  { known, kind, event }: LevelKind,
): ConfigurationDecision {
  const { ou_id, requested_at: at } = command;
  const levels = withIds(command, { known, kind, version });
  const sameName = repetition(levels, 'name');
  if (sameName)
    return {
      outcome: 'rejected',
      code: 'duplicate_name',
      message: `Two of the levels are named "${sameName[1].name}". Give each level another name.`,
      errors: [
        { path: pathOf(levels, sameName[1], 'name'), message: 'must not be the name of another level' },
      ],
    };
  const sameId = repetition(levels, 'id');
  if (sameId)
    return {
      outcome: 'rejected',
      code: 'invalid_request',
      message: `The levels "${sameId[0].name}" and "${sameId[1].name}" have the same id. Give each its own, or leave the id of a new one out.`,
      errors: [{ path: pathOf(levels, sameId[1], 'id'), message: 'must not be the id of another level' }],
    };
  const overlap = overlapOf(levels);
  if (overlap) return overlapping(levels, overlap);
  if (isSame(levels, known)) return { outcome: 'done', events: [] };
  return { outcome: 'done', events: [event({ ou_id, levels, at })] };
}

/** The first two levels that overlap; null if none do. */
export function overlapOf<Ranged extends Bounds>(levels: readonly Ranged[]): [Ranged, Ranged] | null {
  for (const [index, one] of levels.entries())
    for (const other of levels.slice(index + 1))
      if (lowOf(one) <= highOf(other) && lowOf(other) <= highOf(one)) return [one, other];
  return null;
}

/** Gives a level without an id the id of the present level with its name, or a new id. */
function withIds(
  { ou_id, levels }: Pick<records.SetEngagementLevels, 'ou_id' | 'levels'>,
  { known: present, kind, version }: Pick<LevelKind, 'known' | 'kind'> & { version: number },
): Level[] {
  const given = new Set(levels.flatMap(({ id }) => id?.toLowerCase() ?? []));
  return levels.map(({ id, name, min_score, max_score, color }) => {
    const known = present.find((level) => isSameText(level.name, name) && !given.has(level.id));
    return {
      // The version differs after every change, so that a name that is used again after a renaming gets a new id.
      id: id?.toLowerCase() ?? known?.id ?? nameBasedId(ou_id, `${kind}:${String(version)}:${name}`),
      name,
      min_score,
      max_score,
      color,
    };
  });
}

function repetition(levels: readonly Level[], field: 'id' | 'name'): [Level, Level] | null {
  for (const [index, one] of levels.entries())
    for (const other of levels.slice(index + 1))
      if (isSameText(one[field], other[field])) return [one, other];
  return null;
}

function overlapping(levels: readonly Level[], pair: [Level, Level]): ConfigurationDecision {
  const [one, other] = pair;
  const shared = inWords({
    min_score: boundOf(Math.max(lowOf(one), lowOf(other))),
    max_score: boundOf(Math.min(highOf(one), highOf(other))),
  });
  return {
    outcome: 'rejected',
    code: 'levels_overlap',
    message: `"${one.name}" (${inWords(one)}) and "${other.name}" (${inWords(other)}) would both take ${shared}. Bounds are inclusive: let one level begin after the other ends.`,
    errors: [
      { path: pathOf(levels, one), message: `overlaps with "${other.name}"` },
      { path: pathOf(levels, other), message: `overlaps with "${one.name}"` },
    ],
  };
}

function inWords({ min_score, max_score }: Bounds): string {
  if (min_score === null) return max_score === null ? 'every score' : `${String(max_score)} and less`;
  if (max_score === null) return `${String(min_score)} and more`;
  return min_score === max_score ? String(min_score) : `${String(min_score)} to ${String(max_score)}`;
}

function lowOf({ min_score }: Bounds): number {
  return min_score ?? -Infinity;
}

function highOf({ max_score }: Bounds): number {
  return max_score ?? Infinity;
}

function boundOf(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function pathOf(levels: readonly Level[], level: Level, field?: string): string {
  return `body.levels[${String(levels.indexOf(level))}]${field === undefined ? '' : `.${field}`}`;
}

function isSameText(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isSame(levels: readonly Level[], known: readonly Level[]): boolean {
  const fields = ['id', 'name', 'min_score', 'max_score', 'color'] as const;
  return (
    levels.length === known.length &&
    levels.every((level, index) => fields.every((field) => level[field] === known[index]?.[field]))
  );
}
