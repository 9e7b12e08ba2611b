// Why a rule matches an event or does not, in words, with the values that the event has. Pure.
import {
  compileFilters,
  eventTypeKey,
  finderOf,
  type JsonObject,
  type JsonValue,
} from '@lead-scoring/contracts';
import { shortenLabel } from '@lead-scoring/scoring-domain';
import { conditionWords, offWords } from '../configuration/condition-words.js';
import type { Rule, Ruleset } from '../configuration/state.js';

export interface SampledEvent {
  event_type: string;
  timestamp: string;
  metadata?: JsonObject | undefined;
}

export interface RuleReason {
  /** Whether the event has the rule's type and time and meets its filters; also of a rule that is switched off. */
  matched: boolean;
  why: string;
}

const maximumReason = 1_000;
/** Maximum length within a reason, so that one long value leaves room for the others. */
const maximumValue = 200;
/** Of a rule with more failing filters, the first are named. */
const maximumFailing = 3;

export function reasonOf(rule: Rule, ruleset: Ruleset | undefined, event: SampledEvent): RuleReason {
  const missed = missedWords(rule, event);
  if (missed.length > 0) return reason(false, `Does not match: ${missed.join('; ')}.`);
  const off = offWords(rule, ruleset);
  return reason(true, `${metWords(rule, event)}${off === null ? '' : ` No points, because ${off}.`}`);
}

function reason(matched: boolean, why: string): RuleReason {
  return { matched, why: shortenLabel(why, maximumReason) };
}

/** Why the event does not match the rule; empty where it does. */
function missedWords(rule: Rule, event: SampledEvent): string[] {
  if (eventTypeKey(rule.event_type) !== eventTypeKey(event.event_type))
    return [`the rule is for events of type ${quoted(rule.event_type)}`];
  const { starts_at, ends_at } = rule;
  const { timestamp, metadata = {} } = event;
  const words: string[] = [];
  if (starts_at !== undefined && timestamp < starts_at)
    words.push(`the rule takes events from ${starts_at} on, and this one is of ${timestamp}`);
  if (ends_at !== undefined && timestamp >= ends_at)
    words.push(`the rule takes events before ${ends_at}, and this one is of ${timestamp}`);
  const failing = rule.attribute_filters.filter((filter) => !compileFilters([filter])(metadata));
  for (const filter of failing.slice(0, maximumFailing))
    words.push(`the rule asks that ${conditionWords(filter)}, but ${valueWords(filter.field, metadata)}`);
  if (failing.length > maximumFailing)
    words.push(`and ${String(failing.length - maximumFailing)} more filters are not met`);
  return words;
}

function metWords({ attribute_filters, event_type }: Rule, { metadata = {} }: SampledEvent): string {
  if (attribute_filters.length === 0) return `Matches every event of type ${quoted(event_type)}.`;
  const met = attribute_filters.map(
    (filter) => `${conditionWords(filter)}, and ${valueWords(filter.field, metadata)}`,
  );
  return `Matches: ${shortenLabel(met.join('; '), maximumReason - 2 * maximumValue)}.`;
}

/** The value of a field in the event: `path is "/blog"`. */
function valueWords(field: string, metadata: JsonObject): string {
  const found = finderOf(field)(metadata);
  if (found === undefined || found === null) return `the event has no ${field}`;
  return `${field} is ${shortenLabel(valueText(found), maximumValue)}`;
}

function valueText(value: JsonValue): string {
  if (Array.isArray(value)) return `one of ${value.slice(0, maximumValue).map(valueText).join(', ')}`;
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

function quoted(text: string): string {
  return `"${text.slice(0, maximumReason).toWellFormed()}"`;
}
