// The words of a notification, whatever the channel: each kind of message renders a notice.
import type {
  AccountCauseReason,
  AccountFiredPayload,
  CauseReason,
  FiredPayload,
  LeadScoreType,
  NotificationPayload,
  QuotaPayload,
} from '@lead-scoring/contracts';
import { oneLine } from './text.js';

export interface Notice {
  /** One line: the lead or account, the event and the score; of a warning the quota and its use. */
  title: string;
  facts: { label: string; value: string }[];
  /** The top drivers, the most important first. */
  reasons: string[];
  /** URL of the score's explanation. */
  link: string | null;
}

const shownDrivers = 5;
const nameLength = 120;

export function noticeOf(payload: NotificationPayload): Notice {
  if (payload.type === 'channel.test') {
    const { channel, message } = payload.data;
    return {
      title: `Test of the channel ${quoted(channel.name)}`,
      facts: [],
      reasons: [oneLine(message, 500)],
      link: null,
    };
  }
  if (payload.type === 'quota.nearly_used') return quotaNotice(payload);
  if (payload.type === 'account.milestone.fired') return accountNotice(payload);
  const { data } = payload;
  const { lead, trigger, score, previous_score } = data;
  return {
    title: titleOf(payload),
    facts: [
      { label: 'Lead', value: nameOf(lead) },
      ...givenFacts(lead),
      {
        label: wordsOf(payload).score,
        value: `${points(score)} (before: ${points(previous_score)})`,
      },
      ...levelFacts(payload),
      { label: 'Trigger', value: oneLine(trigger.name, nameLength) },
      causeFact(payload),
    ],
    reasons: data.top_drivers
      .slice(0, shownDrivers)
      .map((driver) => reasonOf(driver, scoreTypeOf(payload) !== 'engagement')),
    link: linkOf(data.share_url),
  };
}

function accountNotice({ data }: AccountFiredPayload): Notice {
  const { account, trigger, score, previous_score, cause } = data;
  const name = nameOf(account);
  const key = oneLine(account.account_key, nameLength);
  return {
    title: `${name} is ${score >= previous_score ? 'up' : 'down'} to ${points(score)} account points`,
    facts: [
      { label: 'Account', value: name },
      ...(key === name || key === '' ? [] : [{ label: keyWords[account.account_kind], value: key }]),
      { label: 'Leads', value: points(account.leads) },
      { label: 'Account score', value: `${points(score)} (before: ${points(previous_score)})` },
      { label: 'Trigger', value: oneLine(trigger.name, nameLength) },
      { label: 'Cause', value: accountReasonWords[cause.reason] },
    ],
    reasons: [],
    link: null,
  };
}

function quotaNotice({ data }: QuotaPayload): Notice {
  const { credential, quota, limit, used, period, resets_at } = data;
  const { counted, span } = quotaWords[quota];
  const share = `${String(Math.floor((used / limit) * 100))} %`;
  const whose = credential
    ? `${credentialWords[credential.kind]} ${quoted(credential.name)}`
    : 'All credentials of the organisation together';
  return {
    title: `${whose}: ${share} of the ${counted} of the ${span} are used`,
    facts: [
      { label: 'Quota', value: `${points(limit)} ${counted} a ${span} (${quota})` },
      { label: 'Used', value: `${points(used)}, with ${points(Math.max(0, limit - used))} left` },
      {
        label: span === 'day' ? 'Day (UTC)' : 'Month (UTC)',
        value: period.slice(0, span === 'day' ? 10 : 7),
      },
      { label: 'Whole again', value: resets_at },
    ],
    reasons: ['When the quota is used up, requests are refused with 429. An admin can raise it.'],
    link: null,
  };
}

const credentialWords = { token: 'The token', service_account: 'The service account' } as const;

const quotaWords = {
  calls_per_day: { counted: 'API calls', span: 'day' },
  calls_per_month: { counted: 'API calls', span: 'month' },
  events_per_day: { counted: 'events', span: 'day' },
  events_per_month: { counted: 'events', span: 'month' },
} as const;

const keyWords: Record<AccountFiredPayload['data']['account']['account_kind'], string> = {
  domain: 'Domain',
  named: 'Key',
};

const accountReasonWords: Record<AccountCauseReason, string> = {
  leads: 'the scores of its leads changed',
  account_rule: 'rules over the account changed its points',
};

/** The event that made the trigger fire, or why the score changed without one. */
function causeFact({ data: { cause } }: FiredPayload): Notice['facts'][number] {
  if (cause.event_type !== null) return { label: 'Last event', value: oneLine(cause.event_type, 100) };
  const reason = 'reason' in cause ? cause.reason : undefined;
  return { label: 'Cause', value: reason === undefined ? 'the score changed' : reasonWords[reason] };
}

const reasonWords: Record<CauseReason, string> = {
  profile: 'the profile changed',
  deal: 'a deal changed',
  decay: 'time without activity',
  reset: 'the score was reset',
  rescoring: 'the score was computed anew',
  event_deletion: 'events were deleted',
};

function scoreTypeOf({ data }: FiredPayload): LeadScoreType {
  return ('score_type' in data ? data.score_type : undefined) ?? 'engagement';
}

/** What a score and its points are called. */
const scoreWords: Record<LeadScoreType, { readonly score: string; readonly points: string }> = {
  engagement: { score: 'Score', points: 'points' },
  profile: { score: 'Profile score', points: 'profile points' },
  deal: { score: 'Deal score', points: 'deal points' },
};

function wordsOf(payload: FiredPayload): (typeof scoreWords)[LeadScoreType] {
  return scoreWords[scoreTypeOf(payload)];
}

function levelFacts({ type, data }: FiredPayload): Notice['facts'] {
  if (type === 'lead.level_changed')
    return [
      { label: 'Level', value: `${levelName(data.level)} (before: ${levelName(data.previous_level)})` },
    ];
  return data.level === null ? [] : [{ label: 'Level', value: levelName(data.level) }];
}

function levelName(level: string | null): string {
  return level === null ? 'none' : oneLine(level, nameLength);
}

/**
 * A driver as text: `Pricing: +30 (3×)`; for a rule over profiles or deals `Decision maker: +20`; where limits held points back
 * `Pricing: +30 (3 of 5 counted, at most 3 a lead)`.
 */
function reasonOf(driver: FiredPayload['data']['top_drivers'][number], hasConditions: boolean): string {
  const { event_type, label, filter_label, count, total, counted, counted_total = total, limits } = driver;
  const name = label ?? (filter_label === undefined ? event_type : `${event_type} (${filter_label})`);
  const times =
    counted === undefined
      ? `${String(count)}×`
      : `${String(counted)} of ${String(count)} counted${limits === undefined ? '' : `, ${oneLine(limits, 160)}`}`;
  return `${oneLine(name, 160)}: ${signed(counted_total)}${hasConditions ? '' : ` (${times})`}`;
}

function givenFacts({ title, company, owner }: FiredPayload['data']['lead']): Notice['facts'] {
  const given: [label: string, value: string | undefined][] = [
    ['Title', title],
    ['Company', company],
    ['Owner', owner],
  ];
  return given.flatMap(([label, value]) => {
    const shown = value === undefined ? '' : oneLine(value, nameLength);
    return shown === '' ? [] : [{ label, value: shown }];
  });
}

function titleOf(payload: FiredPayload): string {
  const { type, data } = payload;
  const name = nameOf(data.lead);
  const score = `${points(data.score)} ${wordsOf(payload).points}`;
  switch (type) {
    case 'trigger.milestone.fired':
    case 'lead.level_changed': {
      const up = data.score >= data.previous_score;
      if (data.threshold_level === undefined) return `${name} ${up ? 'is up to' : 'is down to'} ${score}`;
      const level = levelName(data.threshold_level);
      return up ? `${name} reached ${level} with ${score}` : `${name} fell below ${level} to ${score}`;
    }
    case 'trigger.sequence.fired':
      return `${name} completed the sequence ${quoted(data.trigger.name)}`;
    case 'trigger.surge.fired':
      return `${name} is surging, now at ${score}`;
  }
}

/** The URL, if it is http or https; null otherwise. */
function linkOf(url: string | undefined): string | null {
  if (url === undefined || !URL.canParse(url)) return null;
  const { protocol, href } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? href : null;
}

/** Falls back to the id for a name without visible characters. */
function nameOf({ id, name }: { id: string; name: string }): string {
  return oneLine(name, nameLength) || id;
}

function quoted(name: string): string {
  return `“${oneLine(name, nameLength)}”`;
}

/** Does not depend on the locale of the machine. */
function points(value: number): string {
  return value.toLocaleString('en-US');
}

function signed(value: number): string {
  return value > 0 ? `+${points(value)}` : points(value);
}
