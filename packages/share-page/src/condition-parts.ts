// The parts of the shared page that differ for a profile, deal or account score. A profile score says how well a lead fits, a deal
// score how promising its deals are, an account score how promising its company is; each has the points of all rules that the
// profile, the deals or the account meet now.
import {
  clip,
  countInWords,
  dateInWords,
  html,
  numberInWords,
  withSign,
  type Child,
  type Html,
} from '@lead-scoring/charts';
import { titleOf, toneOf } from './drivers.js';
import { limitsInShort } from './limits.js';
import type { SharedDriver, SharedExplanation } from './shared-explanation.js';

const longestWords = 180;
const shownChanges = 5;

/** The texts of the page of such a score. */
interface ConditionWords {
  readonly title: string;
  readonly about: string;
  /** The source of the points, as the subject of a sentence. */
  readonly source: string;
  readonly nothing: string;
  readonly gained: string;
  readonly lost: string;
  /** Instead of drivers. */
  readonly noDrivers: string;
  /** The noun behind "rules over". */
  readonly rulesOf: string;
  readonly fading: string;
  readonly ofImage: string;
}

const conditionWords: Readonly<Record<'profile' | 'deal' | 'account', ConditionWords>> = {
  profile: {
    title: 'Profile score',
    about:
      'A profile score shows how well somebody fits. It follows what is known of them, such as their role or the size of their company: each rule that holds adds points or takes some away, as long as it holds.',
    source: 'What is known',
    nothing: 'Nothing that is known at the moment adds points or takes any away.',
    gained: 'For what fits',
    lost: 'For what does not fit',
    noDrivers: 'No rule holds at the moment. As soon as something that counts is known, it is listed here.',
    rulesOf: 'profiles',
    fading: 'Points of a profile do not fade with time.',
    ofImage: 'What is known now',
  },
  deal: {
    title: 'Deal score',
    about:
      'A deal score shows how promising the deals are that somebody takes part in. It follows what is known of these deals, such as their stage or amount: each rule that a deal meets adds points or takes some away, as long as it is met.',
    source: 'The present state of the deals',
    nothing: 'No deal adds points or takes any away at the moment.',
    gained: 'For what is promising',
    lost: 'For what is not promising',
    noDrivers: 'No deal meets a rule at the moment. As soon as one does, the rule is listed here.',
    rulesOf: 'deals',
    fading: 'Points of deals do not fade with time.',
    ofImage: 'The deals now',
  },
  account: {
    title: 'Account score',
    about:
      'An account score shows how promising a whole company is. It follows the scores of all leads of the company, and what is known of it, such as its industry or size: each rule that holds adds points or takes some away, as long as it holds.',
    source: 'What counts for the account',
    nothing: 'Nothing adds points to it or takes any away at the moment.',
    gained: 'For what is promising',
    lost: 'For what is not promising',
    noDrivers:
      'No rule holds, and no lead gives points, at the moment. As soon as one does, it is listed here.',
    rulesOf: 'accounts',
    fading: 'Points of these rules do not fade with time.',
    ofImage: 'The account now',
  },
};

/** null: the score is made by events. */
export function conditionWordsOf({
  score_type,
}: Pick<SharedExplanation, 'score_type'>): ConditionWords | null {
  return score_type === undefined ? null : conditionWords[score_type];
}

/** The explanation with a title for each rule: one without a label is named by its conditions. */
export function withTitles(shared: SharedExplanation): SharedExplanation {
  if (!conditionWordsOf(shared)) return shared;
  const titled = ({ filter_label, ...driver }: SharedDriver): SharedDriver =>
    driver.label === undefined && filter_label !== undefined
      ? { ...driver, label: filter_label }
      : { ...driver, filter_label };
  return { ...shared, top_drivers: shared.top_drivers.map(titled) };
}

/** `What is known gives 35 points and takes 10 points away.` */
export function conditionsInShort(
  shared: SharedExplanation,
  { source, nothing }: ConditionWords,
  { gained, lost }: { gained: number; lost: number },
): Child {
  const [largest] = shared.top_drivers;
  const below = limitsInShort(shared);
  if (!largest) return `${nothing}${below}`;
  const gives = `gives ${countInWords(gained, 'point')}`;
  const takes = `takes ${countInWords(-lost, 'point')} away`;
  const what = `${source} ${lost === 0 ? gives : gained === 0 ? takes : `${gives} and ${takes}`}`;
  const main = html`<b><bdi>${clip(titleOf(largest), 60)}</bdi></b>`;
  return shared.top_drivers.length === 1
    ? html`${what}, all for ${main}.${below}`
    : html`${what}. The largest single reason is ${main}.${below}`;
}

/** The weights of the rules that are switched on, as a sentence. */
export function conditionWeights({ snapshot }: SharedExplanation, { rulesOf, fading }: ConditionWords): Html {
  const weights = snapshot.map(({ weight }) => weight);
  const [lowest, highest] = [Math.min(...weights), Math.max(...weights)];
  const rules = countInWords(weights.length, 'rule');
  return html`<section class="part" aria-labelledby="weights">
    <h2 id="weights">What counts today</h2>
    <p class="dim">
      ${
        weights.length === 0
          ? `No rule about ${rulesOf} is switched on at the moment.`
          : lowest === highest
            ? html`${rules} about ${rulesOf}, worth
                <b class="${toneOf(lowest)}">${withSign(lowest)}</b>${weights.length > 1 && ' each'}, as long
                as ${weights.length > 1 ? 'they hold' : 'it holds'}.`
            : html`${rules} about ${rulesOf}, each worth between
                <b class="${toneOf(lowest)}">${withSign(lowest)}</b> and
                <b class="${toneOf(highest)}">${withSign(highest)}</b>, as long as it holds.`
      }
      ${fading}
    </p>
  </section>`;
}

/** The newest changes in words, at most `shown`, and how many others there were. */
export function conditionChanges(shared: SharedExplanation, range: string, shown: number): Html {
  const { profile_entries = [], deal_entries = profile_entries } = shared;
  const { entries_total = deal_entries.length } = shared;
  const listed = deal_entries.slice(0, Math.min(shown, shownChanges));
  const more = entries_total - listed.length;
  return html`<section class="part" aria-labelledby="changes">
    <h2 id="changes">What changed</h2>
    ${
      listed.length === 0
        ? html`<p class="dim">Nothing in ${range}.</p>`
        : html`<p class="dim">In ${range}, the newest first:</p>
            <ul class="weights changes" role="list">
              ${listed.map(
                ({ words, decided_at }) =>
                  html`<li>
                    <bdi>${clip(words, longestWords)}</bdi>
                    <time class="dim" datetime="${decided_at}">${dateInWords(decided_at)}</time>
                  </li>`,
              )}
            </ul>
            ${more > 0 && html`<p class="more small dim">And ${numberInWords(more)} earlier ${more === 1 ? 'change' : 'changes'}.</p>`}`
    }
  </section>`;
}
