// The page behind a share link: a score and its reasons, for somebody who has never heard of lead scoring.
import {
  clip,
  countInWords,
  courseInWords,
  dateInWords,
  html,
  isolated,
  momentInWords,
  numberInWords,
  rangeInWords,
  safeColour,
  spanInWords,
  textOf,
  withSign,
  type Child,
  type Html,
} from '@lead-scoring/charts';
import {
  accountDriverWords,
  accountInShort,
  driversWithLeads,
  leadsPart,
  withAccountSums,
} from './account-parts.js';
import { coursePlot, hasCourse } from './course.js';
import { htmlDocument } from './document.js';
import { driversChart, ruleWords, titleOf, toneOf } from './drivers.js';
import { limitsInShort, limitsList, limitsOf, pointsOf } from './limits.js';
import {
  conditionChanges,
  conditionsInShort,
  conditionWeights,
  conditionWordsOf,
  withTitles,
} from './condition-parts.js';
import type { ShareLinks, SharedExplanation } from './shared-explanation.js';

/** Maximum size of a page. */
const largestPageBytes = 50_000;
/** Numbers of bars to try: fewer are drawn when long names would make the page too large. */
const shownDrivers = [12, 8, 4, 2];
const shownWeights = 12;
const shownWeightsOfType = 4;
const longestName = 300;

/**
 * The whole document, to be sent with `pageHeaders`. It needs one request and no script, and shows only the given
 * values.
 */
export function renderSharePage(shared: SharedExplanation, links: ShareLinks): string {
  let page = '';
  for (const shown of shownDrivers) {
    page = textOf(sharePage(withAccountSums(withTitles(shared)), links, shown));
    if (Buffer.byteLength(page) < largestPageBytes) break;
  }
  return page;
}

function sharePage(shared: SharedExplanation, links: ShareLinks, shown: number): Html {
  const name = clip(shared.lead_name, longestName);
  const range = rangeInWords(shared.range_hours);
  const title = `${nameOfScore(shared)} of ${isolated(name)}`;
  const conditions = conditionWordsOf(shared);
  return htmlDocument({
    title,
    roomy:
      name.length <= 90 &&
      shared.top_drivers.length <= 7 &&
      (conditions !== null || shared.snapshot.length <= 12),
    head: openGraph(title, shared, links),
    aside: html`<p>
      Read-only link, open until
      <time datetime="${shared.expires_at}">${dateInWords(shared.expires_at)}</time>
    </p>`,
    main: html`${hero(shared, name, range)}
      <section class="part" aria-labelledby="drivers">
        <h2 id="drivers">${conditions ? 'What makes the score' : 'What moved the score'}</h2>
        ${driversPart(shared, range, shown)}
      </section>
      ${shared.history.length > 0 && coursePart(shared, range)}
      <div class="part pair">${pairOfParts(shared, range, shown)}</div>`,
    footer: footer(shared, links),
  });
}

function pairOfParts(shared: SharedExplanation, range: string, shown: number): Html[] {
  const conditions = conditionWordsOf(shared);
  if (!conditions) return [weightsPart(shared), decayPart(shared)];
  return [
    shared.score_type === 'account' ? leadsPart(shared) : conditionChanges(shared, range, shown),
    conditionWeights(shared, conditions),
  ];
}

/** The name of the score in titles. */
function nameOfScore(shared: SharedExplanation): string {
  return conditionWordsOf(shared)?.title ?? 'Lead score';
}

function openGraph(title: string, shared: SharedExplanation, links: ShareLinks): Html {
  const description = `${countInWords(shared.score, 'point')}, and where they come from. Read-only, open until ${dateInWords(shared.expires_at)}.`;
  return html`<meta name="description" content="${description}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="Lead score" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:url" content="${links.page}" />
    <meta property="og:image" content="${links.image}" />
    <meta property="og:image:type" content="image/png" />
    <meta property="og:image:width" content="1200" />
    <meta property="og:image:height" content="630" />
    <meta property="og:image:alt" content="The score as a number, with its largest reasons as bars." />
    <meta name="twitter:card" content="summary_large_image" />`;
}

const aboutEngagement =
  'A lead score is a running total that shows how strong somebody’s interest is. What they do, such as opening a page or answering an email, adds points or takes some away. The higher the total, the stronger the interest.';

function hero(shared: SharedExplanation, name: string, range: string): Html {
  const score = numberInWords(shared.score);
  const conditions = conditionWordsOf(shared);
  return html`<section class="hero" aria-labelledby="name">
    <div>
      <h1 id="name" class="${name.length > 90 ? 'longer' : name.length > 28 ? 'long' : 'short'}">
        <span class="eyebrow"
          >${conditions ? `The ${conditions.title.toLowerCase()} of` : 'The score of'}</span
        >
        <bdi>${name}</bdi>
      </h1>
      <p class="score">
        <b class="${score.length > 4 ? 'long' : 'short'}">${score}</b>
        <span>${level(shared)}<span>${Math.abs(shared.score) === 1 ? 'point' : 'points'}</span></span>
      </p>
      <p>${inShort(shared, range)}</p>
      <p class="small dim">${conditions ? conditions.about : aboutEngagement}</p>
    </div>
    ${receipt(shared, range)}
  </section>`;
}

function level({ level: reached }: SharedExplanation): Child {
  return (
    reached &&
    html`<span class="level"
      ><svg viewBox="0 0 10 10" aria-hidden="true" focusable="false">
        <circle cx="5" cy="5" r="4.5" fill="${safeColour(reached.color)}" /></svg
      ><span><span class="vh">Level: </span><bdi>${clip(reached.name, 32)}</bdi></span></span
    > `
  );
}

function inShort(shared: SharedExplanation, range: string): Child {
  const { top_drivers, score } = shared;
  const conditions = conditionWordsOf(shared);
  if (conditions) {
    const drivers = driversWithLeads(shared);
    const made = conditionsInShort({ ...shared, top_drivers: drivers }, conditions, sums(drivers));
    return shared.score_type === 'account' ? html`${accountInShort(shared)}${made}` : made;
  }
  const [largest] = top_drivers;
  const below =
    limitsInShort(shared) +
    (score < 0 ? ' A score below zero means that more points were taken away than were added.' : '');
  if (!largest) return `Nothing that counts happened in ${range}.${below}`;
  const { gained, lost } = sums(top_drivers);
  const what =
    lost === 0
      ? `${countInWords(gained, 'point')} came in over ${range}`
      : gained === 0
        ? `${countInWords(-lost, 'point')} went away over ${range}`
        : `Over ${range}, ${countInWords(gained, 'point')} came in and ${countInWords(-lost, 'point')} went away`;
  const main = html`<b><bdi>${clip(titleOf(largest), 60)}</bdi></b>`;
  return top_drivers.length === 1
    ? html`${what}, all for ${main}.${below}`
    : html`${what}. The largest single reason is ${main}.${below}`;
}

/** The sum, like a till receipt. It always adds up to the score. */
function receipt(shared: SharedExplanation, range: string): Html {
  const { score, top_drivers, adjustments = [], decay_applied, account } = shared;
  const { gained, lost } = sums(top_drivers);
  const limited = pointsOf(limitsOf(shared));
  const ofDeals = pointsOf(adjustments.filter(({ reason }) => reason === 'deal'));
  const ofLeads = pointsOf(adjustments.filter(({ reason }) => reason === 'leads'));
  const held = pointsOf(adjustments) - limited - ofDeals - ofLeads;
  const rest = score - gained - lost - pointsOf(adjustments) - decay_applied;
  const conditions = conditionWordsOf(shared);
  const lines: [label: string, points: number][] = [
    ...(account ? ([[`From ${countInWords(account.leads, 'lead')}`, ofLeads]] as [string, number][]) : []),
    [conditions?.gained ?? `Added in ${range}`, gained],
    [conditions?.lost ?? `Taken away in ${range}`, lost],
    ['For deals as a whole', ofDeals],
    ['Held back by limits', limited],
    ['Beyond the largest or smallest score that there is', held],
    ['Faded with time', decay_applied],
    [conditions ? 'From rules that are not listed' : 'From earlier and other activity', rest],
  ];
  return html`<div class="receipt">
    <h2>How it adds up</h2>
    <dl>
      ${lines
        .filter(([, points], index) => index === 0 || points !== 0)
        .map(
          ([label, points]) =>
            html`<div>
              <dt>${label}</dt>
              <dd class="${toneOf(points)}">${withSign(points)}</dd>
            </div>`,
        )}
      <div class="total">
        <dt>Score</dt>
        <dd>${numberInWords(score)}</dd>
      </div>
    </dl>
  </div>`;
}

function driversPart(shared: SharedExplanation, range: string, shown: number): Html {
  const top_drivers = driversWithLeads(shared);
  const [first] = top_drivers;
  const conditions = conditionWordsOf(shared);
  if (conditions)
    return first
      ? html`<p class="dim">
            Each row is a rule that holds now${shared.account && ', or what all leads give together'}, the
            weightiest first.
          </p>
          ${driversChart(top_drivers, shown, shared.account ? accountDriverWords : ruleWords)}
          ${limitsList(shared, shown)}`
      : html`<p class="dim">${conditions.noDrivers}</p>`;
  if (!first)
    return html`<p class="dim">
      No activity of ${range} added points or took any away. As soon as something that counts happens, it is
      listed here.
    </p>`;
  return html`<p class="dim">
      Each row is one kind of activity in ${range}, the weightiest first. “${numberInWords(first.count)} ×
      ${numberInWords(first.weight)}” means that it happened
      ${first.count === 1 ? 'once' : countInWords(first.count, 'time')}, at
      ${countInWords(first.weight, 'point')}${first.count === 1 ? '' : ' each'}.
    </p>
    ${driversChart(top_drivers, shown)} ${limitsList(shared, shown)}`;
}

function coursePart({ history, range_hours }: SharedExplanation, range: string): Html {
  return html`<section class="part" aria-labelledby="course">
    <h2 id="course">How the score moved</h2>
    <p class="dim">
      ${courseInWords(
        history.map(({ score }) => score),
        range,
      )}
    </p>
    ${hasCourse(history) && coursePlot(history, range_hours)}
  </section>`;
}

function weightsPart({ snapshot }: SharedExplanation): Html {
  const types = new Map<string, Set<number>>();
  for (const { event_type, weight } of snapshot)
    types.set(event_type, (types.get(event_type) ?? new Set()).add(weight));
  const byWeight = [...types]
    .map(([event_type, weights]) => ({
      event_type,
      weights: [...weights].sort((a, b) => Math.abs(b) - Math.abs(a) || b - a),
    }))
    .sort((a, b) => Math.abs(b.weights[0] ?? 0) - Math.abs(a.weights[0] ?? 0));
  const more = byWeight.length - shownWeights;
  return html`<section class="part" aria-labelledby="weights">
    <h2 id="weights">What counts today</h2>
    ${
      byWeight.length === 0
        ? html`<p class="dim">
            No rule is switched on at the moment, so new activity leaves the score as it is.
          </p>`
        : html`<p class="dim">
              The points that each kind of activity is worth now. When a rule changes, earlier points stay as
              they were.
            </p>
            <ul class="weights" role="list">
              ${byWeight.slice(0, shownWeights).map(
                ({ event_type, weights }) =>
                  html`<li>
                    <bdi>${clip(event_type, 32)}</bdi>
                    <b
                      >${weights
                        .slice(0, shownWeightsOfType)
                        .map((weight, index) => [
                          index > 0 && ' or ',
                          html`<span class="${toneOf(weight)}">${withSign(weight)}</span>`,
                        ])}${weights.length > shownWeightsOfType && ' …'}</b
                    >
                  </li>`,
              )}
            </ul>
            ${more > 0 && html`<p class="more small dim">And ${countInWords(more, 'more kind of activity', 'more kinds of activity')}.</p>`}`
    }
  </section>`;
}

function decayPart({ decay_applied }: SharedExplanation): Html {
  return html`<section class="part" aria-labelledby="decay">
    <h2 id="decay">What time took away</h2>
    <p class="dim">
      ${
        decay_applied === 0
          ? 'Nothing: no points have faded. Every point counts as much as on the day it was given.'
          : html`${countInWords(-decay_applied, 'point has', 'points have')} faded so far (<b class="minus"
                >${withSign(decay_applied)}</b
              >). Interest cools, so what lies far back counts less.`
      }
    </p>
  </section>`;
}

function footer(shared: SharedExplanation, links: ShareLinks): Html {
  const left = (Date.parse(shared.expires_at) - Date.parse(shared.computed_at)) / 3_600_000;
  return html`<footer class="foot">
    <p>
      Computed ${time(shared.computed_at)}, anew each time the page is opened.<br />The link works until
      ${time(shared.expires_at)}, that is for another ${spanInWords(left)}.
    </p>
    <ul class="screen" role="list">
      <li><a href="${links.json}">Data as JSON</a></li>
      <li><a href="${links.csv}">Data as CSV</a></li>
    </ul>
  </footer>`;
}

function time(at: string): Html {
  return html`<time datetime="${at}">${momentInWords(at)}</time>`;
}

function sums(drivers: SharedExplanation['top_drivers']): { gained: number; lost: number } {
  return drivers.reduce(
    ({ gained, lost }, { total }) => ({
      gained: gained + Math.max(0, total),
      lost: lost + Math.min(0, total),
    }),
    { gained: 0, lost: 0 },
  );
}
