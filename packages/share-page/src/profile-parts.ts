// The parts of the shared page that differ for a profile score. Such a score says how well a lead fits, and is the sum of the points of
// all rules that the lead's profile meets now.
import { titleOf, toneOf } from './drivers.js';
import { html, type Child, type Html } from './html.js';
import { limitsInShort } from './limits.js';
import type { SharedDriver, SharedExplanation } from './shared-explanation.js';
import { clip, countInWords, dateInWords, numberInWords, withSign } from './words.js';

const longestWords = 180;
const shownChanges = 5;

/** The explanation with a title for each rule: one without a label is named by its conditions. */
export function withTitles(shared: SharedExplanation): SharedExplanation {
  if (shared.score_type !== 'profile') return shared;
  const titled = ({ filter_label, ...driver }: SharedDriver): SharedDriver =>
    driver.label === undefined && filter_label !== undefined
      ? { ...driver, label: filter_label }
      : { ...driver, filter_label };
  return { ...shared, top_drivers: shared.top_drivers.map(titled) };
}

export const aboutProfile =
  'A profile score shows how well somebody fits. It follows what is known of them, such as their role or the size of their company: each rule that holds adds points or takes some away, as long as it holds.';

/** `What is known gives 35 points and takes 10 points away.` */
export function profileInShort(
  shared: SharedExplanation,
  { gained, lost }: { gained: number; lost: number },
): Child {
  const [largest] = shared.top_drivers;
  const below = limitsInShort(shared);
  if (!largest) return `Nothing that is known at the moment adds points or takes any away.${below}`;
  const what =
    lost === 0
      ? `What is known gives ${countInWords(gained, 'point')}`
      : gained === 0
        ? `What is known takes ${countInWords(-lost, 'point')} away`
        : `What is known gives ${countInWords(gained, 'point')} and takes ${countInWords(-lost, 'point')} away`;
  const main = html`<b><bdi>${clip(titleOf(largest), 60)}</bdi></b>`;
  return shared.top_drivers.length === 1
    ? html`${what}, all for ${main}.${below}`
    : html`${what}. The largest single reason is ${main}.${below}`;
}

/** The weights of the rules that are switched on, as a sentence. */
export function profileWeights({ snapshot }: SharedExplanation): Html {
  const weights = snapshot.map(({ weight }) => weight);
  const [lowest, highest] = [Math.min(...weights), Math.max(...weights)];
  const rules = countInWords(weights.length, 'rule');
  return html`<section class="part" aria-labelledby="weights">
    <h2 id="weights">What counts today</h2>
    <p class="dim">
      ${
        weights.length === 0
          ? 'No rule about profiles is switched on at the moment.'
          : lowest === highest
            ? html`${rules} about profiles, worth
                <b class="${toneOf(lowest)}">${withSign(lowest)}</b>${weights.length > 1 && ' each'}, as long
                as ${weights.length > 1 ? 'they hold' : 'it holds'}.`
            : html`${rules} about profiles, each worth between
                <b class="${toneOf(lowest)}">${withSign(lowest)}</b> and
                <b class="${toneOf(highest)}">${withSign(highest)}</b>, as long as it holds.`
      }
      Points of a profile do not fade with time.
    </p>
  </section>`;
}

/** The newest changes in words, at most `shown`, and how many others there were. */
export function profileChanges(shared: SharedExplanation, range: string, shown: number): Html {
  const { profile_entries = [], entries_total = profile_entries.length } = shared;
  const listed = profile_entries.slice(0, Math.min(shown, shownChanges));
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
