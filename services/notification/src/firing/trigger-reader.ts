// Loads the compiled triggers for a batch: those of the configuration in force, with the levels that scoring had at its decision,
// and the saved filters of that version or a newer one. Costs one look-up per OU and batch; levels and filters are read only for
// OUs with a trigger that names one.
import type { LevelList, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import {
  type CompiledTriggers,
  compileTriggers,
  filterIdOf,
  isByLevel,
} from '@lead-scoring/scoring-domain/triggers';
import type { ConfigurationReader } from '../configuration/reader.js';
import type { NotificationConfiguration } from '../configuration/state.js';
import type { DecidedVersions, ScoringReader } from '../levels/reader.js';

export interface TriggerReader {
  /**
   * Loads the triggers for each batch anew, so that a change of a trigger counts for the next batch.
   * @param decided the versions of scoring's configuration in the batch, by OU
   */
  load(decided: DecidedVersions): Promise<TriggersOf>;
}

/** @param version of scoring's configuration; absent for records without a score */
export type TriggersOf = (ouId: string, version?: number) => CompiledTriggers;

interface PreparedConfiguration {
  readonly watchesLevels: boolean;
  readonly watchesFilters: boolean;
  /** By list of levels and, within it, by the configuration that has the filters. */
  readonly compiled: WeakMap<LevelList, WeakMap<object, CompiledTriggers>>;
}

const noLevels: LevelList = { since: 0, levels: [] };
const noFilters = {};

export function createTriggerReader(
  configurations: ConfigurationReader,
  scoring: Pick<ScoringReader, 'levelsAsOf' | 'atLeast'>,
): TriggerReader {
  const prepared = new WeakMap<NotificationConfiguration, PreparedConfiguration>();

  function prepare(configuration: NotificationConfiguration): PreparedConfiguration {
    const triggers = [...configuration.triggers.values()];
    const known = prepared.get(configuration) ?? {
      watchesLevels: triggers.some(isByLevel),
      watchesFilters: triggers.some((trigger) => filterIdOf(trigger) !== undefined),
      compiled: new WeakMap<LevelList, WeakMap<object, CompiledTriggers>>(),
    };
    prepared.set(configuration, known);
    return known;
  }

  function compile(
    configuration: NotificationConfiguration,
    levels: LevelList,
    filters: ScoringConfiguration | undefined,
  ): CompiledTriggers {
    const { compiled } = prepare(configuration);
    const byFilters = compiled.get(levels) ?? new WeakMap<object, CompiledTriggers>();
    compiled.set(levels, byFilters);
    const known =
      byFilters.get(filters ?? noFilters) ??
      compileTriggers(configuration, { ...levels, ...(filters && { filters }) });
    byFilters.set(filters ?? noFilters, known);
    return known;
  }

  return {
    load: async (decided) => {
      const loaded = await configurations.load(decided.keys());
      const watching = (isWatched: (one: PreparedConfiguration) => boolean) =>
        new Map(
          [...decided].filter(([ouId, versions]) => {
            const configuration = loaded.get(ouId);
            return versions.size > 0 && configuration && isWatched(prepare(configuration));
          }),
        );
      const ofLevels = watching(({ watchesLevels }) => watchesLevels);
      const ofFilters = watching(({ watchesFilters }) => watchesFilters);
      const levelsOf = ofLevels.size > 0 ? await scoring.levelsAsOf(ofLevels) : () => noLevels;
      const filtersOf = ofFilters.size > 0 ? await scoring.atLeast(ofFilters) : () => undefined;
      return (ouId, version) => {
        const configuration = loaded.get(ouId);
        if (!configuration)
          throw new Error(`the configuration of organizational unit ${ouId} was not loaded for this batch`);
        if (version === undefined) return compile(configuration, noLevels, undefined);
        return compile(
          configuration,
          ofLevels.has(ouId) ? levelsOf(ouId, version) : noLevels,
          ofFilters.has(ouId) ? filtersOf(ouId) : undefined,
        );
      };
    },
  };
}
