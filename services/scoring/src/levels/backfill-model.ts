// Which level each lead is in, which one was told of it last, and what is to be told: pure.
import { levelledScoreTypes, type LevelledScoreType, type records } from '@lead-scoring/contracts';
import { levelHolding, levelsOfScore, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { Lead } from '../leads/state.js';
import { scoreOf } from '../what-if/found-model.js';

/** What tells consumers of the levels of leads: crossings, and the removal of a lead. */
export type LevelNews = (
  | { readonly type: 'LeadLevelChanged'; readonly payload: records.LeadLevelChanged }
  | { readonly type: 'LeadRemoved'; readonly payload: Pick<records.LeadRemoved, 'lead_id'> }
) & { readonly offset: number };

interface Told {
  readonly level_id: string | null;
  readonly offset: number;
  /** Whether a decision on the score told it, and no backfill. */
  readonly isCrossing: boolean;
}

/** The levels that were told of leads last. */
export class ToldLevels {
  /** By score type and lead. */
  readonly #told = new Map<string, Told>();
  /** Offsets of removals. */
  readonly #removed = new Map<string, number>();

  take(news: readonly LevelNews[]): void {
    for (const { type, payload, offset } of news)
      if (type === 'LeadRemoved') {
        this.#removed.set(payload.lead_id, offset);
        for (const scoreType of levelledScoreTypes) this.#told.delete(nameOf(scoreType, payload.lead_id));
      } else
        this.#told.set(nameOf(payload.score_type, payload.lead_id), {
          level_id: payload.level_id,
          offset,
          isCrossing: payload.cause !== 'levels',
        });
  }

  /** null: the lead is in no level, as far as anybody was told. */
  of(scoreType: LevelledScoreType, leadId: string): string | null {
    return this.#told.get(nameOf(scoreType, leadId))?.level_id ?? null;
  }

  /** Whether the lead was removed since it was stored. */
  isGone({ id, first_offset }: Pick<Lead, 'id' | 'first_offset'>): boolean {
    return (this.#removed.get(id) ?? -1) > first_offset;
  }

  /** Whether a decision has told the level since the lead was stored. The crossing of a decision is the record after it. */
  isNewer(scoreType: LevelledScoreType, { id, offset }: Pick<Lead, 'id' | 'offset'>): boolean {
    const told = this.#told.get(nameOf(scoreType, id));
    return told !== undefined && told.isCrossing && told.offset > offset + 1;
  }
}

function nameOf(scoreType: LevelledScoreType, leadId: string): string {
  return `${scoreType} ${leadId}`;
}

/** A lead as far as its levels go. */
export type LevelledLead = Pick<Lead, 'id' | 'ou_id' | 'score' | 'profile' | 'first_offset' | 'offset'>;

/** Compares the levels of leads with those that were told, and collects what is to be told. */
export class LevelComparison {
  readonly found: records.LevelBackfillFound;
  readonly commands: records.TellLevel[] = [];

  constructor(
    private readonly configuration: ScoringConfiguration,
    private readonly told: ToldLevels,
    private readonly decidedAt: string,
  ) {
    const nobody = (scoreType: LevelledScoreType): records.PlacedLeads => ({
      ...{ entering: 0, moving: 0, leaving: 0, unchanged: 0 },
      levels: levelsOfScore(configuration, scoreType).map(({ id, name }) => ({
        id,
        name,
        leads: 0,
        told: 0,
      })),
    });
    this.found = { engagement: nobody('engagement'), profile: nobody('profile') };
  }

  take(lead: LevelledLead): void {
    if (this.told.isGone(lead)) return;
    for (const scoreType of levelledScoreTypes)
      // Without profile scoring no lead has a profile level.
      if (scoreType === 'engagement' || this.configuration.profile) this.#compare(scoreType, lead);
  }

  #compare(score_type: LevelledScoreType, lead: LevelledLead): void {
    const seen_score = scoreOf(lead, score_type);
    const levels = levelsOfScore(this.configuration, score_type);
    const level_id = levelHolding(levels, seen_score)?.id ?? null;
    const told_level_id = this.told.isNewer(score_type, lead) ? level_id : this.told.of(score_type, lead.id);
    const found = this.found[score_type];
    for (const level of found.levels) {
      if (level.id === level_id) level.leads += 1;
      if (level.id === told_level_id) level.told += 1;
    }
    found[outcomeOf(told_level_id, level_id)] += 1;
    if (told_level_id === level_id) return;
    const { ou_id, id: lead_id } = lead;
    const { version: configuration_version } = this.configuration;
    const common = { ou_id, lead_id, score_type, told_level_id, seen_score };
    this.commands.push({ ...common, configuration_version, decided_at: this.decidedAt });
  }
}

function outcomeOf(told: string | null, now: string | null): Exclude<keyof records.PlacedLeads, 'levels'> {
  if (told === now) return 'unchanged';
  if (told === null) return 'entering';
  return now === null ? 'leaving' : 'moving';
}

/** The findings of two groups of leads. */
export function joinedPlaced(
  one: records.LevelBackfillFound,
  other: records.LevelBackfillFound,
): records.LevelBackfillFound {
  return {
    engagement: joined(one.engagement, other.engagement),
    profile: joined(one.profile, other.profile),
  };
}

function joined(one: records.PlacedLeads, other: records.PlacedLeads): records.PlacedLeads {
  const known = new Map(one.levels.map((level) => [level.id, level]));
  // Levels that are gone since the earlier groups were compared are left out.
  const levels = other.levels.map((level) => ({
    ...level,
    leads: level.leads + (known.get(level.id)?.leads ?? 0),
    told: level.told + (known.get(level.id)?.told ?? 0),
  }));
  return {
    entering: one.entering + other.entering,
    moving: one.moving + other.moving,
    leaving: one.leaving + other.leaving,
    unchanged: one.unchanged + other.unchanged,
    levels,
  };
}

/** What is told of a lead as it is now; null: its level was told since, or is the one that was told. */
export function levelToTell(
  { told_level_id, seen_score, configuration_version, ...command }: records.TellLevel,
  lead: Pick<Lead, 'score' | 'profile'> | null,
  configuration: ScoringConfiguration,
): records.LeadLevelChanged | null {
  if (!lead) return null;
  const { ou_id, lead_id, score_type, decided_at } = command;
  const levels = levelsOfScore(configuration, score_type);
  const score = scoreOf(lead, score_type);
  const level = levelHolding(levels, score);
  const { version } = configuration;
  // A decision that took the lead out of the level that the job has seen has told where it went.
  const isTold = version === configuration_version && levelHolding(levels, seen_score) !== level;
  if (isTold || (level?.id ?? null) === told_level_id) return null;
  return {
    ou_id,
    lead_id,
    score_type,
    previous_level_id: told_level_id,
    level_id: level?.id ?? null,
    level_name: level?.name ?? null,
    previous_score: score,
    score,
    configuration_version: version,
    changed_at: decided_at,
    cause: 'levels',
    fire_triggers: false,
  };
}
