// The explanation of a lead's score as a table, or for an account score as a list, whose points add up to the score.
import type { CallAnswer } from '@lead-scoring/client';
import { plain, table } from './output.js';

type Explanation = CallAnswer<'explainScore'>;

const shownEntries = 10;

export function explanation(answer: Explanation): string {
  const { score, level, score_reset_at, rescored } = answer;
  const lines = [
    `${plain(answer.lead_name)} has ${score} points${givenFor(answer)}${level ? `, level ${plain(level.name)}` : ''} (${momentOf(answer)}).`,
    ...(score_reset_at === undefined
      ? []
      : [
          `The score was restarted from zero (${shortTime(score_reset_at)}): what was given before counts no more.`,
        ]),
    ...(rescored === undefined
      ? []
      : [
          `The score was computed anew (${shortTime(rescored.at)}, ${rescored.job_id}): that takes the place of what was given before.`,
        ]),
    '',
    ...(answer.score_type === 'account'
      ? (answer.account?.reasons ?? []).map(({ words }) => plain(words))
      : [partsTable(answer)]),
    ...changesOf(answer),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

/** The end of the headline that names the kind of score; empty for the engagement score, which is the default. */
function givenFor({ score_type, account }: Explanation): string {
  switch (score_type) {
    case undefined:
      return '';
    case 'profile':
      return ' for its profile';
    case 'deal':
      return ' for its deals';
    case 'account':
      return account ? ` for its account ${plain(account.name)}` : ': it belongs to no account';
  }
}

function partsTable(answer: Explanation): string {
  return table(partsOf(answer), [
    { title: 'POINTS', value: ({ points }) => points, align: 'right' },
    { title: 'HOW', value: ({ how }) => how, align: 'right' },
    ...(answer.score_type === undefined
      ? [{ title: 'EVENT', value: ({ event }: ScorePart) => event, maximum: 40 }]
      : []),
    { title: 'WHY', value: ({ why }) => why, maximum: 80 },
  ]);
}

/** The newest changes of the score within the range; none of an account score, whose past is not kept. */
function changesOf(answer: Explanation): string[] {
  const { entries, entries_total, range_hours, profile_entries = [], deal_entries = [] } = answer;
  const within = (total: number, one: string, several: string) =>
    `${total > shownEntries ? `Newest ${shownEntries} of ` : ''}${total} ${total === 1 ? one : several} in the last ${range_hours} hours:`;
  if (entries.length > 0)
    return [
      '',
      within(entries_total, 'point entry', 'point entries'),
      table(entries.slice(0, shownEntries), [
        { title: 'TIME', value: (entry) => shortTime(entry.timestamp) },
        { title: 'POINTS', value: pointsOf, align: 'right' },
        { title: 'EVENT', value: (entry) => entry.event_type, maximum: 40 },
        {
          title: 'RULE',
          value: (entry) => `${replacedBy(entry)}${ruleOf(entry, answer)}`,
        },
      ]),
    ];
  const changes = [...profile_entries, ...deal_entries];
  if (changes.length === 0) return [];
  return [
    '',
    within(changes.length, 'change', 'changes'),
    table(changes.slice(0, shownEntries), [
      { title: 'TIME', value: ({ decided_at }) => shortTime(decided_at) },
      { title: 'CHANGE', value: ({ words }) => words, maximum: 100 },
    ]),
  ];
}

/** The explained moment, and what was known where that was asked for: `2026-01-31 09:30, as known 2026-02-01 00:00`. */
function momentOf({ at, known_at }: Explanation): string {
  return known_at === undefined ? shortTime(at) : `${shortTime(at)}, as known ${shortTime(known_at)}`;
}

interface ScorePart {
  points: number;
  how: string;
  event: string;
  why: string;
}

/**
 * The parts of the score: points of rules within the range, other changes, points from before the range, and the sum. The rules of a
 * profile or deal score are those that give points now, whenever they began to.
 */
function partsOf(answer: Explanation): ScorePart[] {
  const drivers = answer.top_drivers.map((driver): ScorePart => ({
    points: driver.total,
    how: `${driver.count} × ${driver.weight}`,
    event: driver.event_type,
    why: [driver.label, driver.filter_label].filter(Boolean).join(': '),
  }));
  const others = (answer.adjustments ?? []).map(({ points, count, text }): ScorePart => ({
    points,
    how: count === 1 ? 'once' : `${count} times`,
    event: '',
    why: text,
  }));
  if (answer.decay_applied !== 0)
    others.push({ points: answer.decay_applied, how: '', event: '', why: 'decay' });
  const listed = [...drivers, ...others];
  const earlier = answer.score - listed.reduce((sum, { points }) => sum + points, 0);
  const range = `the last ${answer.range_hours} hours`;
  if (earlier !== 0)
    listed.push({
      points: earlier,
      how: '',
      event: '',
      why:
        answer.score_type === undefined
          ? `from events before ${range}; --hours shows more`
          : `from changes before ${range}; --hours shows more`,
    });
  if (drivers.length === 0)
    listed.unshift({
      points: 0,
      how: '',
      event: '',
      why:
        answer.score_type === undefined
          ? `no rule gave points in ${range}${answer.score_reset_at === undefined ? '' : ' since the reset'}`
          : 'no rule gives points',
    });
  return [...listed, { points: answer.score, how: '', event: '', why: 'the score' }];
}

/** What has ended an entry that counts no more, to be put before its rule. */
function replacedBy({ before_reset, replaced_by }: Explanation['entries'][number]): string {
  if (before_reset) return 'before the reset: ';
  return replaced_by === undefined ? '' : 'before the rescoring: ';
}

/** The points of an entry that count; `0 of 10` where a limit of the rule holds points back. */
function pointsOf({ points, counted_points = points }: Explanation['entries'][number]): string | number {
  return counted_points === points ? points : `${counted_points} of ${points}`;
}

/** The name of a rule: its label, else its filter in words, else its event type; its id when the rule is unknown. */
function ruleOf(
  { rule_id, rule_version }: Explanation['entries'][number],
  { top_drivers }: Explanation,
): string {
  const drivers = top_drivers.filter((driver) => driver.rule_id === rule_id);
  const driver = drivers.find((one) => one.rule_version === rule_version) ?? drivers[0];
  const name = driver ? (driver.label ?? driver.filter_label ?? `every ${driver.event_type}`) : rule_id;
  return `${name}, version ${rule_version}`;
}

export function shortTime(time: string): string {
  return time.replace('T', ' ').replace(/:\d{2}\.\d{3}Z$/, '');
}
