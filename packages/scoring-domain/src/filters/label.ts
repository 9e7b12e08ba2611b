// A filter as the sentence that a person would say: `company contains "acme" and (level is "Hot" or score is at least 50)`. Pure.
import {
  filterWords,
  isLeadFilterGroup,
  leadTimeFields,
  partsOfGroup,
  quoteOperand,
  rulesetScoreField,
  type LeadCondition,
  type LeadFilterGroup,
  type RelativeTime,
} from '@lead-scoring/contracts';
import { shortenLabel } from '../filter-label.js';

/** The rulesets of an OU's configuration, by id. */
export interface RulesetNames {
  readonly rulesets: ReadonlyMap<string, { readonly name: string }>;
}

/** @param configuration names the rulesets */
export function leadFilterLabel(group: LeadFilterGroup, configuration: RulesetNames): string {
  return shortenLabel(sentenceOf(group, configuration));
}

function sentenceOf(group: LeadFilterGroup, configuration: RulesetNames): string {
  return partsOfGroup(group)
    .map((part) => {
      if (!isLeadFilterGroup(part)) return conditionLabel(part, configuration);
      const inner = sentenceOf(part, configuration);
      return partsOfGroup(part).length > 1 ? `(${inner})` : inner;
    })
    .join('all' in group ? ' and ' : ' or ');
}

const fieldWords: Record<string, string> = {
  alias: 'an alias',
  score: 'score',
  'scores.engagement': 'engagement score',
  'scores.profile': 'profile score',
  profile_level: 'profile level',
  grid: 'grid cell',
  event_count: 'number of events',
  created_at: 'first activity',
  first_activity_at: 'first activity',
  last_activity_at: 'last activity',
};

function conditionLabel(condition: LeadCondition, { rulesets }: RulesetNames): string {
  const { field, ruleset_id, operator, value } = condition;
  const subject =
    field === rulesetScoreField
      ? `score of "${rulesets.get(ruleset_id?.toLowerCase() ?? '')?.name ?? ruleset_id ?? ''}"`
      : (fieldWords[field] ?? field);
  if ((leadTimeFields as readonly string[]).includes(field)) return `${subject} ${timeWords(condition)}`;
  const start = `${subject} ${filterWords[operator]}`;
  const values = [value].flat().flatMap((one) => (one === null || one === undefined ? [] : [quoteOf(one)]));
  if (values.length === 0) return start;
  const joined =
    operator === 'between'
      ? values.join(' and ')
      : values.join(operator === 'in' || operator === 'not_in' ? ', ' : ' or ');
  return `${start} ${joined}${condition.match_missing === true ? ' or is missing' : ''}`;
}

function quoteOf(value: string | number | RelativeTime): string {
  return typeof value === 'object' ? durationOf(value) : quoteOperand(value);
}

function timeWords({ operator, value }: LeadCondition): string {
  const [first, second] = [value].flat();
  if (isRelative(first)) {
    if (operator === 'between' && isRelative(second))
      return `is between ${durationOf(first)} and ${durationOf(second)} ago`;
    return operator === 'gt' || operator === 'gte'
      ? `is in the last ${durationOf(first)}`
      : `is more than ${durationOf(first)} ago`;
  }
  const time = timeOf(first);
  switch (operator) {
    case 'between':
      return `is from ${time} to ${timeOf(second)}`;
    case 'gt':
      return `is after ${time}`;
    case 'gte':
      return `is from ${time} on`;
    case 'lt':
      return `is before ${time}`;
    default:
      return `is up to ${time}`;
  }
}

function isRelative(value: unknown): value is RelativeTime {
  return value !== null && typeof value === 'object';
}

function durationOf(time: RelativeTime): string {
  const [count, unit] = 'days_ago' in time ? [time.days_ago, 'day'] : [time.hours_ago, 'hour'];
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** A midnight is shown as its date. */
function timeOf(value: unknown): string {
  return String(value).replace('T00:00:00.000Z', '');
}
