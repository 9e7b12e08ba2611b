// The points that limits of rules and rulesets held back from a score, in words.
import { clip, countInWords, html, withSign, type Child } from '@lead-scoring/charts';
import { toneOf } from './drivers.js';
import type { SharedAdjustment, SharedExplanation } from './shared-explanation.js';

const longestText = 240;

/** The adjustments that limits of rules and rulesets made. */
export function limitsOf({ adjustments = [] }: SharedExplanation): SharedAdjustment[] {
  return adjustments.filter(({ reason }) => reason === 'capped_by_rule' || reason === 'held_by_ruleset');
}

export function pointsOf(adjustments: readonly SharedAdjustment[]): number {
  return adjustments.reduce((sum, { points }) => sum + points, 0);
}

/** ` Limits held 20 points back.`, or nothing. */
export function limitsInShort(shared: SharedExplanation): string {
  const points = pointsOf(limitsOf(shared));
  if (points === 0) return '';
  const held = countInWords(Math.abs(points), 'point');
  return points < 0 ? ` Limits held ${held} back.` : ` Limits kept ${held} from being taken away.`;
}

/** The `shown` largest, one a line, and a sentence about the others. */
export function limitsList(shared: SharedExplanation, shown: number): Child {
  const limits = limitsOf(shared);
  if (limits.length === 0) return false;
  const rest = limits.slice(shown);
  const kind = shared.score_type !== undefined ? 'no group of rules' : 'no single kind of activity';
  return html`<p class="more dim">
      Limits make sure that ${kind} decides the score alone. They changed it by:
    </p>
    <ul class="weights" role="list">
      ${limits.slice(0, shown).map(
        ({ text, points }) =>
          html`<li>
            <bdi>${clip(text, longestText)}</bdi>
            <b class="${toneOf(points)}">${withSign(points)}</b>
          </li>`,
      )}
    </ul>
    ${rest.length > 0 && html`<p class="more small dim">And ${countInWords(rest.length, 'more limit')}, together <b class="${toneOf(pointsOf(rest))}">${withSign(pointsOf(rest))}</b>.</p>`}`;
}
