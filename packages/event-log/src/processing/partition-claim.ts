// Claims a partition of the output: afterwards nobody else can write it. See owners.ts for how the log tells.
import { internals } from '../event-log.js';
import { inputsRead } from '../input-positions.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { readUntil, type Fetched } from '../kafka/partition-reader.js';
import { ownerHeader, OwnerReader, takenHeader, withdrawnHeader } from '../owners.js';
import { OpenAnew } from '../session.js';
import type { JointProducer, JointProducers } from './joint-producer.js';
import type { PartitionContext } from './partition-context.js';

/** Milliseconds for which an owner that lives may finish the batch in hand, and release the partition. */
const releaseMs = 2_000;
/** Offsets that are looked at first; each further look is that many times as long. */
const firstLook = 100n;
const growth = 8n;
const maxBytes = 2 * 1024 * 1024;

interface Claim {
  connection: KafkaConnection;
  producer: JointProducer;
  producers: JointProducers;
}

/**
 * A partition that this process' producer owns already is not claimed again: another owner would have fenced the producer.
 * @returns the offset of what the owner wrote last. Whoever has read the output up to it has read all that was committed: no
 * end that a leader tells says as much, for one that was elected just now may not know yet what its predecessor has
 * acknowledged
 * @throws OpenAnew where somebody else has claimed the partition meanwhile
 */
export async function claimPartition(context: PartitionContext, claim: Claim): Promise<bigint> {
  const { owned } = context;
  const { id } = claim.producer;
  if (owned.by?.id === id) return owned.by.offset;
  const offset = await takeOver(context, claim);
  owned.by = { id, offset };
  return offset;
}

/** @returns the offset of the record by which the partition is taken */
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
      () => others().length === 0 || hasRival(),
    );
    if (hasRival()) break;
    const gone = others();
    if (gone.length > 0)
      context.logger.info({ owners: gone }, 'the partition is taken from owners that have not released it');
    for (const id of gone) {
      await producers.fence(id);
      fenced.add(id);
    }
    end = await writeRecord(context, producer, { [takenHeader]: 'true' });
    await readOn(context, connection, owners, {}, () => owners.nextOffset > end);
  }
  if (!hasRival()) return end;
  await writeRecord(context, producer, { [withdrawnHeader]: 'true' });
  throw new OpenAnew('another process has claimed the partition meanwhile', true);
}

async function writeRecord(
  { log, options, partition }: PartitionContext,
  producer: JointProducer,
  headers: Record<string, string>,
): Promise<bigint> {
  const place = { topic: options.output, partition };
  const { topic, message } = inputsRead(log, place, { [ownerHeader]: producer.id, ...headers });
  const [offset] = await producer.commit({
    batches: [{ topic, partition, messages: [message] }],
    offsets: [],
  });
  if (offset === undefined) throw new Error('a claim was committed without an offset');
  return offset;
}

interface OwnersRead {
  reader: OwnerReader;
  nextOffset: bigint;
}

/** Reads on until the end is seen, or for this long. */
async function readOn(
  context: PartitionContext,
  connection: KafkaConnection,
  owners: OwnersRead,
  { forMs = Infinity }: { forMs?: number },
  isEnd: () => boolean,
): Promise<void> {
  const giveUpAt = performance.now() + forMs;
  const isEndOrLate = (fetched: Fetched) => {
    owners.reader.take(fetched);
    owners.nextOffset = fetched.nextOffset;
    return isEnd() || performance.now() >= giveUpAt;
  };
  const reading = readOutput(context, connection, owners.nextOffset, isEndOrLate);
  while ((await reading.next()).done !== true);
}

/** Reads back from the claim as far as it takes to be sure of all owners. */
async function readOwners(
  context: PartitionContext,
  connection: KafkaConnection,
  claimedAt: bigint,
): Promise<OwnersRead> {
  const topic = context.log[internals].wire(context.options.output);
  const earliest = await connection.offset(topic, context.partition, 'earliest');
  const isEnd = ({ nextOffset }: Fetched) => nextOffset > claimedAt;
  for (let length = firstLook; ; length *= growth) {
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

/** Reads the output with what is not committed: an owner may be in the middle of a transaction. */
function readOutput(
  { log, options, partition, signal, touchOfLog }: PartitionContext,
  connection: KafkaConnection,
  from: bigint,
  isEnd: (fetched: Fetched) => boolean,
): AsyncGenerator<Fetched, void> {
  const source = { topic: log[internals].wire(options.output), partition, from };
  const isEndOrTouched = (fetched: Fetched) => {
    touchOfLog();
    return isEnd(fetched);
  };
  return readUntil(connection, source, isEndOrTouched, {
    maxBytes,
    signal,
    isUncommitted: true,
    maxWaitMs: 100,
  });
}
