// How far the rebuilds of services are: the editions in their databases, and the positions of what is being filled.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import {
  connectReadModel,
  createCheckpoints,
  databaseName,
  nameInEdition,
  partOf,
  readerOf,
  type Checkpoint,
  type FillingEdition,
  type ReadModel,
  type StoredEditions,
} from '@lead-scoring/read-model';
import { pino } from 'pino';
import { CommandFailed, exitCodes } from './errors.js';
import type { Settings } from './settings.js';

export interface RebuildProgress {
  /** The edition being filled. */
  edition: number;
  /** When the filling began. */
  since: string;
  /** Readers' partitions that are level with the live edition, and all of them. */
  level: number;
  parts: number;
  /** Records folded and to fold: offsets, so that commit markers count as well. */
  folded: number;
  records: number;
}

/** Opens the database of a service, passes it to `use`, and closes it again. */
export async function withReadModel<Result>(
  settings: Settings,
  service: ServiceName,
  use: (readModel: ReadModel) => Promise<Result>,
): Promise<Result> {
  if (settings.mongodbUri === undefined)
    throw new CommandFailed(
      'This command needs MongoDB, whose address is not set: a service says in its database how far a rebuild is. Run it in a checkout with `npm start` running, or set MONGODB_URI.',
      exitCodes.usage,
    );
  const readModel = await connectReadModel(
    {
      uri: settings.mongodbUri,
      database: databaseName(settings.namespace, service),
      access: settings.access,
    },
    { logger: pino({ level: 'silent' }) },
  );
  try {
    return await use(readModel);
  } finally {
    await readModel.close();
  }
}

/** @returns null when no edition is being filled */
export async function rebuildProgress(
  log: EventLog,
  readModel: ReadModel,
  service: ServiceName,
  { filling }: Pick<StoredEditions, 'filling'>,
): Promise<RebuildProgress | null> {
  if (!filling) return null;
  const { number: edition, since, level, parts } = filling;
  const readers = [...new Set(parts.map(readerOf))];
  const found = await Promise.all(
    readers.map((reader) => readerProgress(log, readModel, { service, reader, filling })),
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  return {
    edition,
    since,
    level: level.length,
    parts: parts.length,
    folded: sum(found.map(({ folded }) => folded)),
    records: sum(found.map(({ records }) => records)),
  };
}

async function readerProgress(
  log: EventLog,
  readModel: ReadModel,
  { service, reader, filling }: { service: ServiceName; reader: string; filling: FillingEdition },
): Promise<{ folded: number; records: number }> {
  const checkpoints = await createCheckpoints(readModel).loadAll(nameInEdition(reader, filling.number));
  const ends = await endOffsets(log, topicOf(service, reader));
  let folded = 0;
  let records = 0;
  for (const { partition, offset } of ends) {
    const isLevel = filling.level.includes(partOf(reader, partition));
    const reached = isLevel ? offset : reachedIn(checkpoints.get(partition), service === reader);
    records += Number(offset);
    folded += Math.min(Number(reached), Number(offset));
  }
  return { folded, records };
}

/** The topic that a reader folds: a processor its service's own, a projector that of scoring. */
function topicOf(service: ServiceName, reader: string): TopicName {
  return reader === service ? `${service}.events` : 'scoring.events';
}

function reachedIn(checkpoint: Checkpoint | undefined, isOwn: boolean): bigint {
  return (isOwn ? checkpoint?.offset : checkpoint?.positions['scoring.events']) ?? 0n;
}

/** `34 % of 12,000 records folded, 2 of 6 partitions level`. */
export function progressSentence({ level, parts, folded, records }: RebuildProgress): string {
  const percent = records === 0 ? 100 : Math.floor((folded / records) * 100);
  return `${String(percent)} % of ${records.toLocaleString('en')} records folded, ${String(level)} of ${String(parts)} partitions level`;
}
