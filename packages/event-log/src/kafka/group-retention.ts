// Checks how long the brokers keep the offsets of an empty consumer group.
// docs/decisions/0014-the-records-are-believed.md
import { topics } from '@lead-scoring/contracts';
import kafkajs, { type Admin } from 'kafkajs';
import type { Logger } from 'pino';

const setting = 'offsets.retention.minutes';
/** The largest value that the brokers accept, about 4,000 years. */
const longestMinutes = 2_147_483_647;

/** The retention of group offsets in minutes that is needed to keep them as long as the records. */
export function neededGroupRetention(retentionsMs: readonly number[]): number {
  if (retentionsMs.some((retention) => retention < 0)) return longestMinutes;
  return Math.min(longestMinutes, Math.ceil(Math.max(...retentionsMs) / 60_000));
}

/** Logs a warning when a broker deletes the offsets of an empty group before the records that the group reads. */
export async function checkGroupRetention(admin: Admin, logger: Logger): Promise<void> {
  const { brokers } = await admin.describeCluster();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: brokers.map(({ nodeId }) => ({
      type: kafkajs.ConfigResourceTypes.BROKER,
      name: String(nodeId),
      configNames: [setting],
    })),
  });
  const needed = neededGroupRetention(topics.map(({ retentionMs }) => retentionMs));
  const found = resources.flatMap(({ configEntries }) =>
    configEntries.filter(({ configName }) => configName === setting),
  );
  const least = Math.min(...found.map(({ configValue }) => Number(configValue)));
  if (found.length === 0 || least >= needed) return;
  logger.warn(
    { setting, is: least, wanted: needed },
    `the brokers delete the offsets of an empty consumer group after ${least} minutes: set ${setting}=${needed}. ` +
      'No record is decided twice without it, because the output states the input positions; but the lag of a system that was ' +
      'stopped for longer is not visible until it is started',
  );
}
