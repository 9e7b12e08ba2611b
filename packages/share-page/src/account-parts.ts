// The parts of the shared page that differ for an account score. It is that of the account to which the lead belongs, and comes from
// the scores of all leads of the account and from rules over it. No lead but the shared one is named.
import { clip, countInWords, html, withSign, type Child, type Html } from '@lead-scoring/charts';
import { ruleWords, toneOf, type DriverWords } from './drivers.js';
import { withoutPoints } from './reasons.js';
import type { SharedAdjustment, SharedDriver, SharedExplanation } from './shared-explanation.js';

const longestName = 120;
/** In place of the id of a rule. */
const idOfLeads = '';

/** The points of an account that no rule gives: those of its leads together, and those that limits hold. */
export function accountSums({ account }: Pick<SharedExplanation, 'account'>): SharedAdjustment[] {
  return (account?.reasons ?? []).flatMap(({ reason, points, words }) =>
    reason === 'account_rule' || points === 0 ? [] : [{ reason, points, text: withoutPoints(words) }],
  );
}

/** The explanation with these points among its adjustments, where the page looks for them. */
export function withAccountSums(shared: SharedExplanation): SharedExplanation {
  if (!shared.account) return shared;
  return { ...shared, adjustments: [...(shared.adjustments ?? []), ...accountSums(shared)] };
}

/** The drivers; of an account score with what its leads give together, as if that were a rule. */
export function driversWithLeads(shared: SharedExplanation): SharedDriver[] {
  const ofLeads = accountSums(shared).filter(({ reason }) => reason === 'leads');
  if (ofLeads.length === 0) return shared.top_drivers;
  return [
    ...shared.top_drivers,
    ...ofLeads.map(({ points, text }) => ({
      rule_id: idOfLeads,
      label: 'The scores of its leads',
      event_type: text.replace(/\.$/, ''),
      count: 1,
      weight: points,
      total: points,
    })),
  ].sort((one, other) => Math.abs(other.total) - Math.abs(one.total));
}

/** Below the leads' points, how they come about; of a rule nothing, its conditions are below its label already. */
export function accountDriverWords(driver: SharedDriver): DriverWords {
  return { ...ruleWords(driver), ...(driver.rule_id === idOfLeads && { kind: driver.event_type }) };
}

/** `This lead belongs to Acme Engines.` */
export function accountInShort({ account }: SharedExplanation): Child {
  return account
    ? html`This lead belongs to <b><bdi>${clip(account.name, longestName)}</bdi></b
        >. `
    : 'This lead belongs to no account yet. ';
}

/** How many leads count and how, and nothing else of them. */
export function leadsPart({ account }: SharedExplanation): Html {
  const ofLeads = account?.reasons.find(({ reason }) => reason === 'leads');
  return html`<section class="part" aria-labelledby="leads">
    <h2 id="leads">${account ? 'Its leads' : 'Its account'}</h2>
    <p class="dim">
      ${
        account && ofLeads
          ? html`${countInWords(account.leads, 'lead belongs', 'leads belong')} to the account:
              <b class="${toneOf(ofLeads.points)}">${withSign(ofLeads.points)}</b>,
              ${withoutPoints(ofLeads.words)} This page tells nothing else of them.`
          : 'As soon as an account of this lead is known, what makes the score of that account is shown here.'
      }
    </p>
  </section>`;
}
