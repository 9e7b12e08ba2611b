// The job that counts the event types of an OU anew. Its first step marks each partition. Each further step reads the log of a partition
// up to the mark, counts a group of types afresh, and sends the types whose stored counts differ.
// docs/decisions/0060-event-types-are-counted-anew-up-to-a-mark.md
import type { Job, JobKind, JobStep, PartitionScope } from '@lead-scoring/capability';
import { jobIdOf, records } from '@lead-scoring/contracts';
import { endOffsets, outgoing, pause, type EventLog, type OutgoingRecord } from '@lead-scoring/event-log';
import {
  findByIds,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  eventTypeDocumentId,
  eventTypes,
  eventUnits,
  toShare,
  toUnitShare,
  unitDocumentId,
} from '../event-types/documents.js';
import type { EventTypeShare } from '../event-types/fold.js';
import type { UnitShare } from '../event-types/unit-fold.js';
import { createRecurringValues } from '../events/recurring-values.js';
import { readDeletedHistory, readIngested, type HistoryUpTo } from './history.js';
import {
  difference,
  FreshCount,
  isInGroup,
  joinedDifferences,
  listDiffers,
  noEvents,
  type TypeGroup,
} from './recount-model.js';

type Work = records.EventTypeBackfillWork;
type BackfillJob = Job<Work>;

export interface EventTypeBackfillOptions {
  readonly log: () => EventLog;
  readonly now: () => Date;
  /** Types that a step keeps in memory, about. Default 2,000. */
  readonly typesPerStep?: number;
}

interface StepContext extends EventTypeBackfillOptions {
  readonly readModel: ReadModel;
  readonly signal: AbortSignal;
  readonly listedTypes: number;
}

const defaultTypesPerStep = 2_000;
const maximumGroups = 1_000;
/** Milliseconds that a step waits for the mark, before other jobs have their turn. */
const patienceMs = 1_000;
const lookEveryMs = 20;

export function eventTypeBackfill(
  options: EventTypeBackfillOptions,
  listedTypes: number,
): JobKind<typeof records.startEventTypeBackfill, Work> {
  return {
    name: 'event-type-backfill',
    command: records.startEventTypeBackfill,
    isExclusive: true,
    isBesideLog: true,
    begin: async ({ ou_id, dry_run }, { readModel }) => {
      const ends = await endOffsets(options.log(), 'ingest.events');
      const byPartition = [...ends].sort((one, other) => one.partition - other.partition);
      const work: Work = {
        kind: 'event-type-backfill',
        dry_run,
        ends: byPartition.map(({ offset }) => offsetToNumber(offset)),
        groups: await groupsOf(ou_id, readModel, options),
      };
      return { work, total: work.ends.reduce((sum, end) => sum + end * work.groups, 0) };
    },
    step: (job, { readModel }: PartitionScope, signal) =>
      takeStep(job, { ...options, readModel, signal, listedTypes }),
    joined: ({ found }, more) =>
      found
        ? joinedDifferences(
            found as unknown as records.EventTypeBackfillFound,
            more as unknown as records.EventTypeBackfillFound,
          )
        : more,
    startedResult: ({ job_id }) => ({ job_id: jobIdOf('ingest', job_id) }),
  };
}

/** One, unless the OU has more types than lists show: then as many as all stored types could need. */
async function groupsOf(
  ouId: string,
  readModel: ReadModel,
  { typesPerStep = defaultTypesPerStep }: EventTypeBackfillOptions,
): Promise<number> {
  const { hasMore, count } = await withClassifiedErrors(async () => {
    const units = await readModel
      .collection(eventUnits)
      .find({ ou: uuidToBinary(ouId) })
      .toArray();
    return {
      hasMore: units.some((unit) => toUnitShare(unit).has_more),
      count: await readModel.collection(eventTypes).estimatedDocumentCount(),
    };
  });
  return hasMore ? Math.min(maximumGroups, Math.max(1, Math.ceil(count / typesPerStep))) : 1;
}

async function takeStep(job: BackfillJob, context: StepContext): Promise<JobStep> {
  if (job.cursor === null) return { ...advanced('0 0', 0, mark(job)), found: { ...nothingFound } };
  const [partition = 0, group = 0] = job.cursor.split(' ').map(Number);
  const unit = await markedUnit(job, partition, context);
  if (!unit) return { ...advanced(job.cursor, 0, []), found: { ...nothingFound } };
  return count(job, { partition, group, groups: job.work.groups, unit }, context);
}

const nothingFound: records.EventTypeBackfillFound = { types: [], has_more: false, list: false };

function mark({ ou_id, job_id, work, started_at, actor }: BackfillJob): OutgoingRecord[] {
  return work.ends.map((_, partition) =>
    outgoing(records.beginRecount, {
      key: String(partition),
      partition,
      payload: { ou_id, recount_id: job_id, partition, requested_at: started_at, actor },
    }),
  );
}

type MarkedUnit = UnitShare & { recount: NonNullable<UnitShare['recount']> };

/** The partition's counts of the OU, once it has folded the mark; null: it has not folded it yet. */
async function markedUnit(
  { ou_id, job_id }: BackfillJob,
  partition: number,
  { readModel, signal }: StepContext,
): Promise<MarkedUnit | null> {
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    const [found] = await findByIds(readModel.collection(eventUnits), [unitDocumentId(ou_id, partition)]);
    const unit = found && toUnitShare(found);
    if (unit?.recount?.id === job_id) return { ...unit, recount: unit.recount };
    await pause(lookEveryMs, signal);
    signal.throwIfAborted();
  }
  return null;
}

type CountedPart = TypeGroup & { readonly partition: number; readonly unit: MarkedUnit };

async function count(job: BackfillJob, part: CountedPart, context: StepContext): Promise<JobStep> {
  const { ou_id, work } = job;
  const { partition, group, groups, unit } = part;
  const { from } = unit.recount;
  const fresh = await freshCount(
    { log: context.log(), ouId: ou_id, partition, end: from, signal: context.signal },
    part,
    context.listedTypes,
  );
  const { types, differing } = await compare(ou_id, part, fresh.types(), context.readModel);
  const counted = fresh.unit();
  const isLast = group === groups - 1;
  const found: records.EventTypeBackfillFound = {
    types: differing.slice(0, records.maximumDifferingTypes),
    has_more: differing.length > records.maximumDifferingTypes,
    list: isLast && listDiffers(unit, counted, context.listedTypes),
  };
  const sets = work.dry_run ? [] : chunked(types).map((some) => ({ types: some, is_last: false }));
  // The last record ends the recount in the OU and has no types: a crash after the OU is stored would lose the counts of its types.
  const last = isLast ? [{ types: [], ...(!work.dry_run && { unit: counted }), is_last: true }] : [];
  const commands = [...sets, ...last].map((set) =>
    outgoing(records.setRecounted, {
      key: String(partition),
      partition,
      payload: {
        ...{ ou_id, recount_id: job.job_id, partition },
        ...set,
        requested_at: context.now().toISOString(),
      },
    }),
  );
  const next = isLast ? [partition + 1, 0] : [partition, group + 1];
  const cursor = isLast && partition + 1 === work.ends.length ? null : next.join(' ');
  return { ...advanced(cursor, work.ends[partition] ?? 0, commands), found: { ...found } };
}

async function freshCount(history: HistoryUpTo, of: TypeGroup, listedTypes: number): Promise<FreshCount> {
  const values = createRecurringValues();
  const deleted = await readDeletedHistory(history);
  const fresh = new FreshCount(history.ouId, deleted, of, listedTypes, (type) => values.typeKeyOf(type));
  for await (const { payload, offset } of readIngested(history)) fresh.take(payload, offset);
  return fresh;
}

/** The types of the group whose stored counts are not those of the log. */
async function compare(
  ouId: string,
  part: CountedPart,
  counted: ReadonlyMap<string, records.RecountedType>,
  readModel: ReadModel,
): Promise<{ types: records.RecountedType[]; differing: records.DifferingType[] }> {
  const { partition, unit } = part;
  const keys = new Set([...counted.keys(), ...unit.types.filter((key) => isInGroup(key, part))]);
  const found = await findByIds(
    readModel.collection(eventTypes),
    [...keys].map((key) => eventTypeDocumentId(ouId, key, partition)),
  );
  const stored = new Map(found.map(toShare).map((share) => [share.key, share]));
  const types: records.RecountedType[] = [];
  const differing: records.DifferingType[] = [];
  for (const key of keys) {
    const type = counted.get(key) ?? noEvents(key);
    const differs = difference(stored.get(key) ?? emptyShare(ouId, key), type, unit.recount.from);
    if (!differs) continue;
    types.push(type);
    differing.push(differs);
  }
  return { types, differing };
}

function emptyShare(ouId: string, key: string): EventTypeShare {
  return { ou_id: ouId, ...noEvents(key) };
}

/** The types in parts that a record holds. */
function chunked(types: readonly records.RecountedType[]): records.RecountedType[][] {
  const chunks: records.RecountedType[][] = [];
  let bytes = Infinity;
  for (const type of types) {
    const size = Buffer.byteLength(JSON.stringify(type));
    const open = chunks.at(-1);
    if (open && open.length < records.recountLimits.types && bytes + size <= records.recountLimits.bytes) {
      open.push(type);
      bytes += size;
    } else {
      chunks.push([type]);
      bytes = size;
    }
  }
  return chunks;
}

function advanced(
  cursor: string | null,
  done: number,
  commands: readonly OutgoingRecord[],
): Extract<JobStep, { outcome: 'advanced' }> {
  return { outcome: 'advanced', cursor, done, commands };
}
