// `lead-scoring suggest`: rules that the recorded history suggests for an outcome, as a table, and as a file that a what-if takes.
import { RequestFailed, type CallAnswer, type Client } from '@lead-scoring/client';
import { filterLabel, type LevelledScoreType, type routeDeclarations } from '@lead-scoring/contracts';
import { stringify } from 'yaml';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { areaOf, count, percentage } from './job-findings.js';
import { resultOfJob } from './job-progress.js';
import { ensureNew, writeNew } from './new-file.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface SuggestFlags {
  outcome?: string;
  dimension?: LevelledScoreType;
  /** The file that the changes are written to. */
  out?: string;
  json?: boolean;
}

type Result = routeDeclarations.SuggestionResult;
type Change = Result['changes'][number];
type Rule = CallAnswer<'getRule'>;

/** @returns the exit code: 1 when the job was cancelled or has failed */
export async function suggest(flags: SuggestFlags, settings: Settings, output: Output): Promise<number> {
  if (flags.outcome === undefined)
    throw new CommandFailed(
      'Give --outcome with the type of event that a good lead comes to, such as "Deal Won".',
      exitCodes.usage,
    );
  const { dimension = 'engagement' } = flags;
  const outcome = { event_type: flags.outcome };
  if (flags.out !== undefined) await ensureNew(flags.out);
  const client = clientOf(settings, promptRetries);
  const { job_id: id } = await client.call('startSuggestion', { body: { outcome, dimension } });
  const job = { id, work: 'learns from the history', part: 'held_out' } as const;
  const result = await resultOfJob(client, job, flags, output);
  if (!result) return exitCodes.incomplete;
  if (flags.out !== undefined) {
    const draft = { score_type: dimension, outcome, changes: result.changes };
    await writeNew(flags.out, stringify(draft, { lineWidth: 0 }));
    output.note(`The changes are in ${flags.out}. To try them: what-if ${flags.out}\n`);
  }
  if (flags.json !== true) output.write(summary(result, await namesOfRules(result.changes, client)));
  return exitCodes.done;
}

/** The names of the rules that there are already, by id: a change names a rule by its id alone. */
async function namesOfRules(changes: readonly Change[], client: Client): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const change of changes)
    if (change.op !== 'add') {
      const { rule_id: id } = change;
      const rule = await client.call('getRule', { parameters: { id } }).catch((error: unknown) => {
        // It was deleted since; its id is told instead.
        if (error instanceof RequestFailed && error.status === 404) return null;
        throw error;
      });
      if (rule) names.set(id, nameOfRule(rule));
    }
  return names;
}

type NamedRule = Rule | Extract<Change, { op: 'add' }>['rule'];

function nameOfRule(rule: NamedRule): string {
  if (rule.label !== undefined) return rule.label;
  const conditions = 'conditions' in rule ? rule.conditions : rule.attribute_filters;
  const type = 'event_type' in rule ? rule.event_type : undefined;
  return [type, filterLabel(conditions ?? [])].filter((part) => part !== undefined).join(', ');
}

function summary(result: Result, names: ReadonlyMap<string, string>): string {
  const { changes, learned_from: learned, held_out: held, overtaken } = result;
  return [
    `Learned from ${count(learned.leads)} leads, of which ${count(learned.won)} had the outcome.${changes.length === 0 ? ' Nothing goes with it clearly enough: no rule is suggested.' : ''}`,
    ...(overtaken ? ['The rules have changed since: this is about those of before.'] : []),
    ...(changes.length === 0 ? [] : ['', changesTable(result, names)]),
    '',
    `Of ${count(held.leads)} leads that were held out, ${count(held.won)} had the outcome. AUC of the suggestion: ${areaOf(held)}; of the live rules: ${areaOf(held.live)}.`,
    '',
  ].join('\n');
}

function changesTable({ changes, support }: Result, names: ReadonlyMap<string, string>): string {
  const rows = changes.map((change, index) => ({ change, support: support[index] }));
  const share = (part: { leads: number; won: number } | undefined) =>
    part && part.leads > 0 ? `${percentage(part.won / part.leads)} of ${count(part.leads)}` : '';
  return table(rows, [
    { title: 'CHANGE', value: ({ change }) => whatChanges(change) },
    { title: 'POINTS', value: ({ change }) => pointsOf(change), align: 'right' },
    {
      title: 'RULE',
      value: ({ change }) =>
        change.op === 'add' ? nameOfRule(change.rule) : (names.get(change.rule_id) ?? change.rule_id),
      maximum: 50,
    },
    { title: 'OUTCOME WITH IT', value: ({ support: of }) => share(of?.with), align: 'right' },
    { title: 'WITHOUT', value: ({ support: of }) => share(of?.without), align: 'right' },
    {
      title: 'ODDS',
      value: ({ support: of }) => (of ? `× ${of.odds_ratio.toFixed(2)}` : ''),
      align: 'right',
    },
  ]);
}

function whatChanges(change: Change): string {
  return change.op === 'change' && change.rule.active === false ? 'switch off' : change.op;
}

function pointsOf(change: Change): string {
  const weight = change.op === 'remove' ? undefined : change.rule.weight;
  return weight === undefined ? '' : String(weight);
}
