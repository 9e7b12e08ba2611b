// The job that deletes all events of a type. Its first step marks the type in each partition, and from then on nobody sees the events. The
// further steps walk through what is stored of them: each sends the partitions what to remove and which leads to decide anew, and the next
// one waits until scoring has told that it has done so.
import type { Job, JobKind, JobStep, PartitionScope, Rejection } from '@lead-scoring/capability';
import { eventTypeKey, jobIdOf, records } from '@lead-scoring/contracts';
import { outgoing, pause, type OutgoingRecord } from '@lead-scoring/event-log';
import { Binary, hexOf, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { readUses } from '../event-type-uses/documents.js';
import type { EventTypeUse } from '../event-type-uses/use-model.js';
import { eventSeconds, type EventSecondDocument } from '../events/documents.js';
import { secondsBetween } from '../events/keys.js';
import { AskedLeads } from './asked-leads.js';
import { marksOf, partsTold, toldByScoring, type DeletedTypeDocument } from './documents.js';
import { partsOf, type StepLimits } from './parts-model.js';

type Work = records.DeletionWork;
type DeletionJob = Job<Work>;

export interface EventDeletionOptions {
  readonly partitions: number;
  readonly now: () => Date;
  /** Documents of seconds that one step reads. Default 200. */
  readonly documentsPerStep?: number;
  readonly limits?: StepLimits;
}

const defaultDocumentsPerStep = 200;
/** Some hundredths of a second of scoring, and of ingest. */
const defaultLimits: StepLimits = { leads: 30, events: 250 };
/** Milliseconds that a step waits for what the one before has asked for, before other jobs have their turn. */
const patienceMs = 1_000;
const lookEveryMs = 20;

export function eventDeletion(
  options: EventDeletionOptions,
): JobKind<typeof records.deleteEventsOfType, Work> {
  const askedLeads = new AskedLeads();
  return {
    name: 'event-deletion',
    command: records.deleteEventsOfType,
    isBesideLog: true,
    isIrrevocable: true,
    begin: async ({ ou_id, event_type }, { readModel }) =>
      (await refusal(readModel, ou_id, event_type)) ?? {
        work: { kind: 'event-deletion', event_type, partitions: options.partitions },
        total: null,
      },
    step: (job, scope, signal) => takeStep(job, scope, { ...options, signal, askedLeads }),
    startedResult: ({ job_id }) => ({ job_id: jobIdOf('ingest', job_id) }),
  };
}

/** null: the type may be deleted. */
async function refusal(readModel: ReadModel, ouId: string, eventType: string): Promise<Rejection | null> {
  const users = (await readUses(readModel, ouId)).get(eventTypeKey(eventType)) ?? [];
  if (users.length === 0) return null;
  const named = users.slice(0, namedUsers);
  const further = users.length - named.length;
  return {
    outcome: 'rejected',
    code: 'event_type_protected',
    message: `Rules or triggers use this event type: ${named.map(inWords).join(', ')}${further > 0 ? `, and ${further.toLocaleString('en')} more` : ''}. Delete them first, also those that are not active.`,
    errors: named.map((user) => ({ path: user.kind === 'rule' ? 'rules' : 'triggers', message: user.id })),
  };
}

/** Rules and triggers that a refusal names. */
const namedUsers = 20;

function inWords(user: EventTypeUse['user']): string {
  if (user.kind !== 'rule') return `the ${user.kind} trigger ${user.name} (${user.id})`;
  return user.label === undefined ? `the rule ${user.id}` : `the rule ${user.label} (${user.id})`;
}

type StepOptions = EventDeletionOptions & { readonly signal: AbortSignal; readonly askedLeads: AskedLeads };

/** Where a job is: nothing is marked yet; on the way through the documents; or it waits for the end. */
type Cursor =
  | { readonly at: 'begin' }
  | {
      readonly at: 'walk' | 'end';
      /** The parts that were sent so far, marks included, and those of them that were sent before the last step. */
      readonly sent: number;
      readonly sentBefore: number;
      /** The last document that is dealt with, in hexadecimal digits; null: none is. */
      readonly last: string | null;
      /** The last lead of the document after it that was asked for; null: none was. */
      readonly lead: string | null;
    };
type RunningCursor = Exclude<Cursor, { at: 'begin' }>;

function cursorOf(text: string | null): Cursor {
  if (text === null) return { at: 'begin' };
  const [at, sent, sentBefore, last, lead] = text.split(' ');
  return {
    at: at === 'end' ? 'end' : 'walk',
    sent: Number(sent),
    sentBefore: Number(sentBefore),
    last: namedIn(last),
    lead: namedIn(lead),
  };
}

function namedIn(word: string | undefined): string | null {
  return word === undefined || word === '-' ? null : word;
}

function textOf({ at, sent, sentBefore, last, lead }: RunningCursor): string {
  return [at, String(sent), String(sentBefore), last ?? '-', lead ?? '-'].join(' ');
}

async function takeStep(
  job: DeletionJob,
  { readModel }: PartitionScope,
  options: StepOptions,
): Promise<JobStep> {
  const cursor = cursorOf(job.cursor);
  if (cursor.at === 'begin') return mark(job, readModel);
  const begun = Date.now();
  const marks = await reachedBy(job, cursor, { readModel, ...options });
  if (!marks) return advanced(job.cursor, 0, []);
  if (cursor.at === 'end') return ended(marks, await toldByScoring(readModel, deletionOf(job)));
  // Pauses for twice the time that this step has waited, 1 second at most, to leave time for live events.
  await pause(Math.min(2 * (Date.now() - begun), patienceMs), options.signal);
  return walk(job, cursor, marks, { readModel, ...options });
}

async function mark(job: DeletionJob, readModel: ReadModel): Promise<JobStep> {
  const { ou_id, work, started_at, actor } = job;
  const refused = await refusal(readModel, ou_id, work.event_type);
  if (refused) return { outcome: 'failed', error: { code: refused.code, message: refused.message } };
  const commands = Array.from({ length: work.partitions }, (_, partition) =>
    outgoing(records.markEventsDeleted, {
      key: String(partition),
      partition,
      payload: { ...deletionOf(job), partition, requested_at: started_at, actor },
    }),
  );
  const cursor = { at: 'walk', sent: commands.length, sentBefore: 0, last: null, lead: null } as const;
  return advanced(textOf(cursor), 0, commands);
}

function deletionOf({ ou_id, job_id, work }: DeletionJob) {
  return { ou_id, deletion_id: job_id, event_type: work.event_type };
}

/** The marks, once the partitions and scoring have done what the last step asked for; null: they have not. */
async function reachedBy(
  job: DeletionJob,
  cursor: RunningCursor,
  { readModel, signal }: { readModel: ReadModel; signal: AbortSignal },
): Promise<readonly DeletedTypeDocument[] | null> {
  const deletion = deletionOf(job);
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    await pause(lookEveryMs, signal);
    const marks = await marksOf(readModel, deletion);
    if (marks.length < job.work.partitions) continue;
    if (cursor.at === 'end' && marks.some(({ is_cleared }) => !is_cleared)) continue;
    const told = await partsTold(readModel, deletion, {
      partitions: job.work.partitions,
      from: cursor.sentBefore,
      to: cursor.sent,
    });
    if (told >= cursor.sent - cursor.sentBefore) return marks;
  }
  signal.throwIfAborted();
  return null;
}

/** Sends the next parts and, behind the parts of the last documents, one part with `is_last` to each partition. */
async function walk(
  job: DeletionJob,
  cursor: RunningCursor,
  marks: readonly DeletedTypeDocument[],
  options: StepOptions & { readModel: ReadModel },
): Promise<JobStep> {
  const { documentsPerStep = defaultDocumentsPerStep, limits = defaultLimits, now, askedLeads } = options;
  const { sent } = cursor;
  const typeKey = eventTypeKey(job.work.event_type);
  const before = new Map(marks.map((one) => [one.partition, one.before]));
  const found = await documentsAfter(job.ou_id, typeKey, cursor.last, documentsPerStep, options.readModel);
  const asked = askedLeads.before(job);
  const { parts, events, documents, lead } = partsOf(found, {
    typeKey,
    marks: before,
    lead: cursor.lead,
    limits,
    isAskedFor: (leadId) => asked.has(leadId),
  });
  const isLast = found.length < documentsPerStep && documents === found.length;
  const final = isLast
    ? marks.map(({ partition }) => ({ partition, seconds: [], leads: [], is_last: true }))
    : [];
  const commands = [...parts.map((part) => ({ ...part, is_last: false })), ...final].map((part, index) =>
    outgoing(records.clearDeletedEvents, {
      key: String(part.partition),
      partition: part.partition,
      payload: {
        ...deletionOf(job),
        partition: part.partition,
        before: before.get(part.partition) ?? 0,
        part: sent + index,
        seconds: [...part.seconds],
        leads: [...part.leads],
        is_last: part.is_last,
        requested_at: now().toISOString(),
      },
    }),
  );
  const last = found[documents - 1];
  const next = textOf({
    at: isLast ? 'end' : 'walk',
    sent: sent + commands.length,
    sentBefore: sent,
    last: last ? hexOf(last._id) : cursor.last,
    lead,
  });
  askedLeads.after(
    job,
    next,
    parts.flatMap(({ leads }) => leads),
  );
  return advanced(next, events, commands);
}

/** Documents with events of the type, in the order of their keys. */
async function documentsAfter(
  ouId: string,
  key: string,
  last: string | null,
  limit: number,
  readModel: ReadModel,
): Promise<EventSecondDocument[]> {
  const { $gte, $lt } = secondsBetween(ouId, null, null);
  const from = last === null ? { $gte } : { $gt: new Binary(Buffer.from(last, 'hex'), 0) };
  return withClassifiedErrors(() =>
    readModel
      .collection(eventSeconds)
      .find({ _id: { ...from, $lt }, types: key })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray(),
  );
}

function ended(
  marks: readonly DeletedTypeDocument[],
  told: { readonly leads: number; readonly events: number },
): JobStep {
  const found: records.DeletionFound = {
    events_deleted: marks.reduce((sum, { events }) => sum + events, 0),
    event_scores_deleted: told.events,
    leads_affected: told.leads,
  };
  return { ...advanced(null, 0, []), found: { ...found } };
}

function advanced(
  cursor: string | null,
  done: number,
  commands: readonly OutgoingRecord[],
): Extract<JobStep, { outcome: 'advanced' }> {
  return { outcome: 'advanced', cursor, done, commands };
}
