// Folds changes of the scoring configuration into one document for each OU, with the history of its levels.
import { findByIds, uuidToBinary, type GuardedWriter, type ReadModel } from '@lead-scoring/read-model';
import {
  type ConfigurationEvent,
  emptyConfiguration,
  emptyLevelHistory,
  evolveConfiguration,
  evolveLevels,
  type LevelHistory,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { configurations, toConfiguration, toConfigurationDocument, toLevelHistory } from './model.js';

export interface ConfigurationChange {
  event: ConfigurationEvent;
  offset: number;
}

interface FoldedConfiguration {
  configuration: ScoringConfiguration;
  levels: LevelHistory;
  /** Offset of the last change. */
  offset: number;
}

/** The scoring configurations of one partition. */
export class ConfigurationProjection {
  readonly #configurations;
  readonly #partition: number;
  readonly #writer: GuardedWriter;

  constructor(readModel: ReadModel, { partition, writer }: { partition: number; writer: GuardedWriter }) {
    this.#configurations = readModel.collection(configurations);
    this.#partition = partition;
    this.#writer = writer;
  }

  async fold(changes: readonly ConfigurationChange[]): Promise<void> {
    if (changes.length === 0) return;
    const folded = await this.#load(changes);
    for (const { event, offset } of changes) {
      const { ou_id } = event.payload;
      const known = folded.get(ou_id);
      if (known && known.offset >= offset) continue;
      const configuration = evolveConfiguration(known?.configuration ?? emptyConfiguration(ou_id), event);
      const levels = evolveLevels(known?.levels ?? emptyLevelHistory(ou_id), event);
      folded.set(ou_id, { configuration, levels, offset });
    }
    await this.#writer.write(
      this.#configurations,
      [...folded.values()].map(({ configuration, levels, offset }) =>
        toConfigurationDocument(configuration, levels, { partition: this.#partition, offset }),
      ),
    );
  }

  /** The stored configurations of the OUs that change, by OU. */
  async #load(changes: readonly ConfigurationChange[]): Promise<Map<string, FoldedConfiguration>> {
    const ouIds = [...new Set(changes.map(({ event }) => event.payload.ou_id))];
    const found = await findByIds(this.#configurations, ouIds.map(uuidToBinary));
    return new Map(
      found.map((document) => {
        const configuration = toConfiguration(document);
        const { offset } = document;
        return [configuration.ou_id, { configuration, levels: toLevelHistory(document), offset }];
      }),
    );
  }
}
