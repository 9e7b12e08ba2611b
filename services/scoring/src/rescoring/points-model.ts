// What makes up engagement scores, folded from decisions: what each rule gave, and what no match gave or limits took. It explains a score
// that was computed anew. Pure.
import { records } from '@lead-scoring/contracts';
import {
  contributeMatch,
  isOfEvents,
  rescoredContributions,
  resetsScore,
  type Contribution,
} from '@lead-scoring/scoring-domain';
import type { LeadEvent } from '../scores/messages.js';

/** The parts of a score; the points of matches that counted and the others make the score. */
export type ScoreParts = Pick<records.RescoredEngagement, 'matches' | 'others'>;

interface LeadPoints {
  readonly contributions: Map<string, Contribution>;
  readonly others: Map<string, records.ScoreAdjustment>;
}

export const noParts: ScoreParts = { matches: [], others: [] };

export class ScorePoints {
  readonly #leads = new Map<string, LeadPoints>();

  /** Takes a lead with the parts that are known of it. */
  put(leadId: string, { matches, others }: ScoreParts): void {
    const points: LeadPoints = { contributions: rescoredContributions({ matches }), others: new Map() };
    for (const other of others) addOther(points, other);
    this.#leads.set(leadId, points);
  }

  /** Takes a decision on a lead, in the order of the log. */
  readonly take = ({ type, payload }: LeadEvent): void => {
    if (type === 'LeadRemoved') this.#leads.delete(payload.lead_id);
    else if (type === 'LeadScored') takeScored(this.#of(payload.lead_id), payload);
    else if (payload.score_type === 'engagement') this.#takeAdjusted(payload);
  };

  /** @param isWanted which rulesets; points without a ruleset are of undefined */
  partsOf(leadId: string, isWanted: (rulesetId: string | undefined) => boolean = () => true): ScoreParts {
    const points = this.#leads.get(leadId);
    if (!points) return noParts;
    return {
      matches: [...points.contributions.values()]
        .filter(({ ruleset_id }) => isWanted(ruleset_id))
        .map(({ weight, total, counted, ...match }) => ({
          ...match,
          points: weight,
          ...(counted &&
            counted.total !== total && { counted: { count: counted.count, points: counted.total } }),
        })),
      others: [...points.others.values()].filter(
        ({ ruleset_id, points: sum }) => sum !== 0 && isWanted(ruleset_id),
      ),
    };
  }

  #takeAdjusted(decision: records.ScoreAdjusted): void {
    const { lead_id, adjustments, rescored } = decision;
    if (rescored?.engagement) this.put(lead_id, rescored.engagement);
    else if (resetsScore(decision)) this.#leads.delete(lead_id);
    else for (const adjustment of adjustments) addOther(this.#of(lead_id), adjustment);
  }

  #of(leadId: string): LeadPoints {
    const known = this.#leads.get(leadId) ?? { contributions: new Map(), others: new Map() };
    this.#leads.set(leadId, known);
    return known;
  }
}

function takeScored(points: LeadPoints, { scored_events, adjustments = [] }: records.LeadScored): void {
  for (const { event_type, matches, ruleset_adjustments = [] } of scored_events) {
    for (const match of matches) contributeMatch(points.contributions, event_type, match);
    for (const adjustment of ruleset_adjustments)
      addOther(points, { reason: 'held_by_ruleset', ...adjustment });
  }
  for (const adjustment of adjustments) if (!isOfEvents(adjustment)) addOther(points, adjustment);
}

/** One sum for each reason, rule and ruleset; of limits of a ruleset one for each direction. */
function addOther(
  { others }: LeadPoints,
  { reason, points, ruleset_id, rule_id, rule_version }: records.ScoreAdjustment,
): void {
  const direction = reason === 'held_by_ruleset' && points < 0 ? 'down' : '';
  const name = [reason, rule_id ?? '', ruleset_id ?? '', direction].join(' ');
  others.set(name, {
    reason,
    points: (others.get(name)?.points ?? 0) + points,
    ...(ruleset_id !== undefined && { ruleset_id }),
    ...(rule_id !== undefined && { rule_id }),
    ...(rule_version !== undefined && { rule_version }),
  });
}

/** The points of leads by the replay, and as they are recorded. */
export interface SidesOfPoints {
  readonly replayed: ScorePoints;
  readonly recorded: ScorePoints;
}

/** What makes up the new score of a lead; where one ruleset is rescored, with the recorded points of the others. */
export function partsOfNewScore(
  leadId: string,
  { replayed, recorded }: SidesOfPoints,
  { score_type, ruleset_id }: Pick<records.RescoringWork, 'score_type' | 'ruleset_id'>,
): ScoreParts {
  if (score_type === 'profile') return noParts;
  if (ruleset_id === undefined) return replayed.partsOf(leadId);
  const others = recorded.partsOf(leadId, (id) => id !== ruleset_id);
  const own = replayed.partsOf(leadId, (id) => id === ruleset_id);
  return { matches: [...others.matches, ...own.matches], others: [...others.others, ...own.others] };
}

/** As many parts as a record takes, the largest; the points of the rest are one other part. */
export function recordedParts({ matches, others }: ScoreParts): ScoreParts {
  const most = records.maximumRescoredParts;
  if (matches.length <= most && others.length <= most) return { matches, others };
  const [kept, rest] = divided(matches, pointsOfMatches, most);
  const [keptOthers, restOfOthers] = divided(others, ({ points }) => points, most - 1);
  const points =
    rest.reduce((sum, match) => sum + pointsOfMatches(match), 0) +
    restOfOthers.reduce((sum, other) => sum + other.points, 0);
  return { matches: kept, others: [...keptOthers, { reason: 'rescored', points }] };
}

function divided<Part>(
  parts: readonly Part[],
  pointsOf: (part: Part) => number,
  most: number,
): [Part[], Part[]] {
  const largestFirst = [...parts].sort((one, other) => Math.abs(pointsOf(other)) - Math.abs(pointsOf(one)));
  return [largestFirst.slice(0, most), largestFirst.slice(most)];
}

/** The points that counted of the matches of a rule. */
export function pointsOfMatches({ counted, count, points }: records.RescoredMatches): number {
  return counted?.points ?? count * points;
}

/** Whether parts are the same points, by whichever versions of the rules. */
export function areSameParts(one: ScoreParts, other: ScoreParts): boolean {
  // A changed rule changes the sums of most leads, and texts cost far more than sums.
  return sumOfParts(one) === sumOfParts(other) && textOfParts(one) === textOfParts(other);
}

function sumOfParts({ matches, others }: ScoreParts): number {
  const sum = matches.reduce((points, match) => points + pointsOfMatches(match), 0);
  return others.reduce((points, other) => points + other.points, sum);
}

/** A text that is the same for the same points. */
function textOfParts({ matches, others }: ScoreParts): string {
  const texts = (parts: readonly object[]) =>
    parts.map((part) => JSON.stringify({ ...part, rule_version: undefined, event_type: undefined })).sort();
  return JSON.stringify([texts(matches), texts(others)]);
}
