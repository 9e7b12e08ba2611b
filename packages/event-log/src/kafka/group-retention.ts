// How long the brokers remember where an empty consumer group was. docs/decisions/0014-the-records-are-believed.md
import { topics } from '@lead-scoring/contracts';
import kafkajs, { type Admin } from 'kafkajs';
import type { Logger } from 'pino';

const setting = 'offsets.retention.minutes';
/** The brokers' largest number: some four thousand years. */
const longestMinutes = 2_147_483_647;

/** Minutes for which groups must be remembered so that they are not forgotten before the log is. */
export function neededGroupRetention(retentionsMs: readonly number[]): number {
  if (retentionsMs.some((retention) => retention < 0)) return longestMinutes;
  return Math.min(longestMinutes, Math.ceil(Math.max(...retentionsMs) / 60_000));
}

/** Says aloud where a broker forgets a group that is empty before the log has forgotten what the group has read. */
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
    `the brokers forget an empty consumer group after ${least} minutes: set ${setting}=${needed}. ` +
      'Nothing is decided twice without it, as the records say how far they are read; the lag of a system that was ' +
      'switched off for longer is not shown until it is started',
  );
}
