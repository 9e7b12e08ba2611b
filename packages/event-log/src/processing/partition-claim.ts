// Claims a partition of the output, so that no other process can write to it. owners.ts describes the records.
import { internals } from '../event-log.js';
import { inputsReadRecord } from '../input-positions.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { readUntil, type FetchResult } from '../kafka/partition-reader.js';
import { ownerHeader, OwnerReader, takenHeader, withdrawnHeader } from '../owners.js';
import { ReopenSession } from '../session.js';
import type { JointProducer, JointProducers } from './joint-producer.js';
import type { PartitionContext } from './partition-context.js';
import { isOfDeadOwner } from './transactional-id.js';

/** Time that a previous owner has to finish its current batch and release the partition, unless it is known to be dead. */
const releaseMs = 2_000;
/** Offsets read before the claim; each further search reads a window larger by the factor `growth`. */
const firstWindow = 100n;
const growth = 8n;
const maxBytes = 2 * 1024 * 1024;

interface Claim {
  connection: KafkaConnection;
  producer: JointProducer;
  producers: JointProducers;
}

/**
 * A partition that this process' producer owns already is not claimed again: another owner would have fenced the
 * producer.
 * @returns the offset of the owner's last record. Reading the output up to it reads every committed record; the high
 * watermark does not guarantee that, because a leader that was just elected may not know its predecessor's last
 * acknowledged records
 * @throws ReopenSession when another process has claimed the partition meanwhile
 */
export async function claimPartition(context: PartitionContext, claim: Claim): Promise<bigint> {
  const { owned } = context;
  const { id } = claim.producer;
  if (owned.by?.id === id) return owned.by.offset;
  const offset = await takeOver(context, claim);
  owned.by = { id, offset };
  return offset;
}

/** @returns the offset of the last record of the takeover */
async function takeOver(context: PartitionContext, claim: Claim): Promise<bigint> {
  const { connection, producer, producers } = claim;
  const fenced = new Set<string>();
  let end = await writeRecord(context, producer, {});
  const owners = await readOwners(context, connection, end);
  const others = () =>
    owners.reader.before(producer.id).filter((id) => !fenced.has(id) && !producers.isFormer(id));
  const hasRival = () => owners.reader.after(producer.id).length > 0;
  while (others().length > 0 && !hasRival()) {
    await readOn(
      context,
      connection,
      owners,
      { forMs: releaseMs },
      () => others().every(isOfDeadOwner) || hasRival(),
    );
    if (hasRival()) break;
    const gone = others();
    if (gone.length > 0)
      context.logger.info({ owners: gone }, 'fencing owners that have not released the partition');
    for (const id of gone) {
      await producers.fence(id);
      fenced.add(id);
    }
    end = await writeRecord(context, producer, { [takenHeader]: 'true' });
    await readOn(context, connection, owners, {}, () => owners.nextOffset > end);
  }
  if (!hasRival()) return end;
  await writeRecord(context, producer, { [withdrawnHeader]: 'true' });
  throw new ReopenSession('another process has claimed the partition meanwhile', true);
}

async function writeRecord(
  { log, options, partition }: PartitionContext,
  producer: JointProducer,
  headers: Record<string, string>,
): Promise<bigint> {
  const place = { topic: options.output, partition };
  const { topic, message } = inputsReadRecord(log, place, { [ownerHeader]: producer.id, ...headers });
  const [offset] = await producer.commit({
    batches: [{ topic, partition, messages: [message] }],
    offsets: [],
  });
  if (offset === undefined) throw new Error('a claim was committed without an offset');
  return offset;
}

interface OwnerScan {
  reader: OwnerReader;
  nextOffset: bigint;
}

/** Reads on until `isEnd`, for at most `forMs`. */
async function readOn(
  context: PartitionContext,
  connection: KafkaConnection,
  owners: OwnerScan,
  { forMs = Infinity }: { forMs?: number },
  isEnd: () => boolean,
): Promise<void> {
  const giveUpAt = performance.now() + forMs;
  const isEndOrLate = (fetched: FetchResult) => {
    owners.reader.take(fetched);
    owners.nextOffset = fetched.nextOffset;
    return isEnd() || performance.now() >= giveUpAt;
  };
  const reading = readOutput(context, connection, owners.nextOffset, isEndOrLate);
  while ((await reading.next()).done !== true);
}

/** Reads backwards from the claim until all earlier owners are known. */
async function readOwners(
  context: PartitionContext,
  connection: KafkaConnection,
  claimedAt: bigint,
): Promise<OwnerScan> {
  const topic = context.log[internals].wire(context.options.output);
  const earliest = await connection.offset(topic, context.partition, 'earliest');
  const isEnd = ({ nextOffset }: FetchResult) => nextOffset > claimedAt;
  for (let length = firstWindow; ; length *= growth) {
    const from = claimedAt - length > earliest ? claimedAt - length : earliest;
    const reader = new OwnerReader();
    let nextOffset = from;
    for await (const fetched of readOutput(context, connection, from, isEnd)) {
      reader.take(fetched);
      ({ nextOffset } = fetched);
    }
    if (reader.isSure() || from === earliest) return { reader, nextOffset };
  }
}

/** Reads the output with uncommitted records: an owner may be in the middle of a transaction. */
function readOutput(
  { log, options, partition, signal, touchByBroker }: PartitionContext,
  connection: KafkaConnection,
  from: bigint,
  isEnd: (fetched: FetchResult) => boolean,
): AsyncGenerator<FetchResult, void> {
  const source = { topic: log[internals].wire(options.output), partition, from };
  const isEndOrTouched = (fetched: FetchResult) => {
    touchByBroker();
    return isEnd(fetched);
  };
  return readUntil(connection, source, isEndOrTouched, {
    maxBytes,
    signal,
    isUncommitted: true,
    maxWaitMs: 100,
  });
}
