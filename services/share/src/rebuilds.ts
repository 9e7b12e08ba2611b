// While a read model is folded anew it is not whole: what is missing from it is then not known to be unknown.
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import {
  createCheckpoints,
  defineCollection,
  numberToOffset,
  offsetToNumber,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';

type FoldedTopic = 'share.events' | 'scoring.events';

export interface RebuildDocument {
  /** `<name>:<partition>`. */
  _id: string;
  name: string;
  partition: number;
  topic: FoldedTopic;
  /** Where the topic ended when the read model was dropped: from there on it is whole again. */
  end: number;
}

/** The next offset that will be written to a partition of a topic. */
export type EndOf = (topic: FoldedTopic, partition: number) => Promise<bigint>;

export function createEndOf(log: EventLog): EndOf {
  return async (topic, partition) => (await endOffsets(log, topic, [partition]))[0]?.offset ?? 0n;
}

export const rebuilds = defineCollection<RebuildDocument>({ name: 'rebuilds', indexes: [] });

/** To be called before anything of the partition is dropped. */
export async function beginRebuild(
  readModel: ReadModel,
  { name, partition, topic }: { name: string; partition: number; topic: FoldedTopic },
  endOf: EndOf,
): Promise<void> {
  const end = offsetToNumber(await endOf(topic, partition));
  await withClassifiedErrors(() =>
    readModel
      .collection(rebuilds)
      .replaceOne({ _id: `${name}:${String(partition)}` }, { name, partition, topic, end }, { upsert: true }),
  );
}

/** Whether some partition that was dropped is not whole again. */
export async function isRebuilding(readModel: ReadModel): Promise<boolean> {
  const begun = await withClassifiedErrors(() => readModel.collection(rebuilds).find().toArray());
  if (begun.length === 0) return false;
  const checkpoints = createCheckpoints(readModel);
  const reached = new Map(
    await Promise.all(
      [...new Set(begun.map(({ name }) => name))].map(
        async (name) => [name, await checkpoints.loadAll(name)] as const,
      ),
    ),
  );
  return begun.some(({ name, partition, topic, end }) => {
    const checkpoint = reached.get(name)?.get(partition);
    // A processor's checkpoint says how far its own topic is folded, a projector's how far its inputs are.
    const folded = topic === 'share.events' ? checkpoint?.offset : checkpoint?.positions[topic];
    return (folded ?? 0n) < numberToOffset(end);
  });
}
