// The job that merges leads into another, or takes the merge of one back. One step sends a command for a lead, and the next step waits
// until the lead has joined, or has been taken out again. An organizational unit has one such job at a time, so that no two of them
// form a ring of redirects.
import type { Job, JobKind, JobStep, Rejection } from '@lead-scoring/capability';
import { isAnonymous, jobIdOf, records, type Alias } from '@lead-scoring/contracts';
import { outgoing, pause, type OutgoingRecord } from '@lead-scoring/event-log';
import { findByIds, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { recordIdsOf } from '../events/keys.js';
import { hasEvents, leadNow, redirectOf } from '../events/leads-of-alias.js';
import { redirects } from '../aliases/documents.js';
import { dividedRecords, leadEnds } from './documents.js';
import {
  leadsToMerge,
  rejection,
  targetOf,
  unknownLead,
  type Mergeable,
  type MergeableLead,
} from './mergeable.js';
import { eventsOf } from './reads.js';

type Work = records.LeadMergeWork;
type MergeJob = Job<Work>;

/** Milliseconds that a step waits for what the one before has asked for, before other jobs have their turn. */
const patienceMs = 1_000;
const lookEveryMs = 20;

export const leadMerge: JobKind<typeof records.startLeadMerge, Work> = {
  name: 'lead-merge',
  command: records.startLeadMerge,
  isExclusive: true,
  isBesideLog: true,
  isIrrevocable: true,
  begin: (start, { readModel }) =>
    start.change === 'merge' ? beginMerge(start, readModel) : beginUnmerge(start, readModel),
  step: (job, { readModel }, signal) => takeStep(job, readModel, signal),
  joined: ({ found }, more) => {
    const [before, after] = [found ?? { events_moved: 0 }, more] as unknown as records.LeadMergeFound[];
    return { events_moved: (before?.events_moved ?? 0) + (after?.events_moved ?? 0) };
  },
  startedResult: ({ job_id }) => ({ job_id: jobIdOf('ingest', job_id) }),
};

type Begun = Rejection | { work: Work; total: number };

async function beginMerge(start: records.StartLeadMerge, readModel: ReadModel): Promise<Begun> {
  const { ou_id, alias } = start;
  const merged = alias
    ? await aliasToLink(start, alias, readModel)
    : await leadsToMerge(readModel, ou_id, start);
  if ('outcome' in merged) return merged;
  const { target, sources } = merged;
  const work: Work = {
    ...{ kind: 'lead-merge', change: 'merge', target_id: target.lead_id, sources: [...sources] },
    ended: null,
  };
  return { work, total: sources.length };
}

/** An alias may be linked if it has no lead of its own, or only a visitor's. The lead that gets it may be named by any of its ids. */
async function aliasToLink(
  { ou_id, target_id, source_ids: [lead_id = ''] }: records.StartLeadMerge,
  alias: Alias,
  readModel: ReadModel,
): Promise<Rejection | Mergeable> {
  const target = await targetOf(readModel, ou_id, await leadNow(readModel, ou_id, target_id));
  if ('outcome' in target) return target;
  if (lead_id === target.lead_id)
    return rejection('merge_not_possible', 'The lead has its id from this alias: it is linked to no lead.');
  const now = await leadNow(readModel, ou_id, lead_id);
  if (now !== lead_id && now !== target.lead_id)
    return rejection('lead_merged', `The alias belongs to the lead ${now}. Take it from that lead first.`);
  if (now === lead_id && !isAnonymous(alias) && (await hasEvents(readModel, ou_id, lead_id)))
    return rejection(
      'merge_not_possible',
      `The alias has a lead of its own, ${lead_id}. POST /leads/merge makes one lead of both.`,
    );
  return { target, sources: [{ lead_id, alias }] };
}

/** Whether an id is that of a lead, or of one that has joined another. */
async function isKnown(readModel: ReadModel, ouId: string, leadId: string): Promise<boolean> {
  return hasEvents(readModel, ouId, await leadNow(readModel, ouId, leadId));
}

async function beginUnmerge(
  { ou_id, target_id, source_ids, alias }: records.StartLeadMerge,
  readModel: ReadModel,
): Promise<Begun> {
  const [lead_id = ''] = source_ids;
  const target = await leadNow(readModel, ou_id, target_id);
  for (const asked of alias ? [target] : [target, lead_id])
    if (!(await isKnown(readModel, ou_id, asked))) return unknownLead(asked);
  const link = await withClassifiedErrors(() =>
    readModel.collection(redirects).findOne({ _id: uuidToBinary(lead_id), ou: uuidToBinary(ou_id) }),
  );
  if (!link || target === lead_id || target !== (await leadNow(readModel, ou_id, lead_id)))
    return rejection(
      'lead_not_merged',
      alias
        ? `The alias is not linked to the lead ${target}. GET /lead/{leadID}/aliases lists those that are: they have linked_at.`
        : `The lead ${lead_id} is not merged into the lead ${target}.`,
    );
  if (await hasEvents(readModel, ou_id, lead_id))
    return rejection('lead_not_merged', 'What came under it is still on its way. Try again in a moment.');
  const [ended] = await findByIds(readModel.collection(leadEnds), [uuidToBinary(target)]);
  const sources = [{ lead_id, alias: { alias_kind: link.alias_kind, alias: link.alias } }];
  const work: Work = {
    ...{ kind: 'lead-merge', change: 'unmerge', target_id: target, sources },
    ended: ended?.end_id ?? null,
  };
  return { work, total: 1 };
}

/** The cursor of a step that waits for a lead. */
const waiting = 'wait ';

async function takeStep(job: MergeJob, readModel: ReadModel, signal: AbortSignal): Promise<JobStep> {
  const { cursor, work } = job;
  const index = Number((cursor ?? '0').replace(waiting, ''));
  const source = work.sources[index];
  if (!source) throw new Error('a merge has gone beyond its last lead');
  if (cursor?.startsWith(waiting) !== true) return ask(job, source, { readModel, index });
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    await pause(lookEveryMs, signal);
    signal.throwIfAborted();
    const outcome = await (work.change === 'merge'
      ? outcomeOfMerge(job, source.lead_id, readModel)
      : outcomeOfUnmerge(job, source.lead_id, readModel));
    if (outcome !== null && outcome !== 'done') return { outcome: 'failed', error: outcome };
    if (outcome === 'done')
      return {
        outcome: 'advanced',
        cursor: index + 1 < work.sources.length ? String(index + 1) : null,
        done: 1,
        commands: [],
      };
  }
  return { outcome: 'advanced', cursor, done: 0, commands: [] };
}

async function ask(
  job: MergeJob,
  source: MergeableLead,
  { readModel, index }: { readonly readModel: ReadModel; readonly index: number },
): Promise<JobStep> {
  const isMerge = job.work.change === 'merge';
  return {
    outcome: 'advanced',
    cursor: `${waiting}${String(index)}`,
    done: 0,
    found: { events_moved: isMerge ? await eventsOf(readModel, job.ou_id, source.lead_id) : 0 },
    commands: [isMerge ? mergeCommand(job, source) : unmergeCommand(job, source.lead_id)],
  };
}

function mergeCommand(
  { ou_id, work, started_at, actor }: MergeJob,
  { lead_id: alias_lead_id, alias }: MergeableLead,
): OutgoingRecord {
  const lead_id = work.target_id;
  const payload: records.MergeLead = { ou_id, lead_id, alias, alias_lead_id, merged_at: started_at, actor };
  return outgoing(records.mergeLead, { key: lead_id, payload });
}

function unmergeCommand({ ou_id, started_at, actor }: MergeJob, leadId: string): OutgoingRecord {
  const payload: records.UnmergeLead = { ou_id, alias_lead_id: leadId, unmerged_at: started_at, actor };
  return outgoing(records.unmergeLead, { key: leadId, payload });
}

type Outcome = 'done' | records.JobError | null;

/** null: not yet. */
async function outcomeOfMerge(
  { ou_id, work }: MergeJob,
  leadId: string,
  readModel: ReadModel,
): Promise<Outcome> {
  const joined = await redirectOf(readModel, ou_id, leadId);
  if (joined !== null && (await leadNow(readModel, ou_id, joined)) === work.target_id)
    return (await hasEvents(readModel, ou_id, leadId)) ? null : 'done';
  if (joined !== null)
    return { code: 'lead_merged', message: `The lead ${leadId} has joined the lead ${joined} meanwhile.` };
  if (await hasEvents(readModel, ou_id, work.target_id)) return null;
  return { code: 'lead_not_found', message: `The lead ${work.target_id} was deleted meanwhile.` };
}

async function outcomeOfUnmerge(
  { ou_id, work }: MergeJob,
  leadId: string,
  readModel: ReadModel,
): Promise<Outcome> {
  if ((await redirectOf(readModel, ou_id, leadId)) !== null) return null;
  const [end] = await findByIds(readModel.collection(leadEnds), [uuidToBinary(work.target_id)]);
  if ((end?.end_id ?? null) === work.ended) return null;
  const left = await withClassifiedErrors(() =>
    readModel
      .collection(dividedRecords)
      .findOne({ _id: recordIdsOf(work.target_id) }, { projection: { _id: 1 } }),
  );
  return left === null ? 'done' : null;
}
