// Loads the compiled triggers for a batch: those of the configuration in force, with the levels that scoring had at its decision.
// Costs one look-up per OU and batch; levels are read only for OUs with a trigger by level.
import type { LevelList } from '@lead-scoring/scoring-domain';
import type { ConfigurationReader } from '../configuration/reader.js';
import { isByLevel, type NotificationConfiguration } from '../configuration/state.js';
import type { LevelReader } from '../levels/reader.js';
import { compileTriggers, type CompiledTriggers } from './trigger-model.js';

export interface TriggerReader {
  /**
   * Loads the triggers for each batch anew, so that a change of a trigger counts for the next batch.
   * @param decided the versions of scoring's configuration in the batch, by OU
   */
  load(decided: ReadonlyMap<string, ReadonlySet<number>>): Promise<TriggersOf>;
}

/** @param version of scoring's configuration; absent for records without a score */
export type TriggersOf = (ouId: string, version?: number) => CompiledTriggers;

interface PreparedConfiguration {
  readonly watchesLevels: boolean;
  readonly compiled: WeakMap<LevelList, CompiledTriggers>;
}

const noLevels: LevelList = { since: 0, levels: [] };

export function createTriggerReader(
  configurations: ConfigurationReader,
  levels: Pick<LevelReader, 'asOf'>,
): TriggerReader {
  const prepared = new WeakMap<NotificationConfiguration, PreparedConfiguration>();

  function prepare(configuration: NotificationConfiguration): PreparedConfiguration {
    const known = prepared.get(configuration) ?? {
      watchesLevels: [...configuration.triggers.values()].some(isByLevel),
      compiled: new WeakMap<LevelList, CompiledTriggers>(),
    };
    prepared.set(configuration, known);
    return known;
  }

  function compile(configuration: NotificationConfiguration, list: LevelList): CompiledTriggers {
    const { compiled } = prepare(configuration);
    const known = compiled.get(list) ?? compileTriggers(configuration, list.levels);
    compiled.set(list, known);
    return known;
  }

  return {
    load: async (decided) => {
      const loaded = await configurations.load(decided.keys());
      const watching = new Map(
        [...decided].filter(([ouId, versions]) => {
          const configuration = loaded.get(ouId);
          return versions.size > 0 && configuration && prepare(configuration).watchesLevels;
        }),
      );
      const levelsOf = watching.size > 0 ? await levels.asOf(watching) : () => noLevels;
      return (ouId, version) => {
        const configuration = loaded.get(ouId);
        if (!configuration)
          throw new Error(`the configuration of organizational unit ${ouId} was not loaded for this batch`);
        const isWatching = version !== undefined && watching.has(ouId);
        return compile(configuration, isWatching ? levelsOf(ouId, version) : noLevels);
      };
    },
  };
}
