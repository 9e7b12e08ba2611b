// The configurations of every process, loaded by path: packages do not import services, but what operators read is about them.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProcessSettings } from '@lead-scoring/contracts';

interface ConfigurationFile {
  process: string;
  /** Below the service's sources, without the ending. */
  file: string;
  name: string;
}

const configurationFiles: readonly ConfigurationFile[] = [
  { process: 'gateway', file: 'gateway/src/configuration', name: 'gatewayConfiguration' },
  { process: 'ingest', file: 'ingest/src/configuration', name: 'ingestConfiguration' },
  { process: 'scoring', file: 'scoring/src/settings', name: 'scoringConfiguration' },
  { process: 'notification', file: 'notification/src/settings', name: 'notificationConfiguration' },
  { process: 'share', file: 'share/src/configuration', name: 'shareConfiguration' },
  { process: 'site-analysis', file: 'site-analysis/src/configuration', name: 'siteAnalysisConfiguration' },
  {
    process: 'kafka-source',
    file: 'gateway/src/kafka-source/configuration',
    name: 'kafkaSourceConfiguration',
  },
];

/**
 * The settings of every process.
 * @param from `sources` for tests, which compile them; `builds` for scripts
 */
export async function processSettings(
  checkout: string,
  from: 'sources' | 'builds',
): Promise<ProcessSettings[]> {
  return Promise.all(
    configurationFiles.map(async ({ process, file, name }) => {
      const path = from === 'sources' ? `${file}.ts` : `${file.replace('/src/', '/dist/')}.js`;
      const address = pathToFileURL(join(checkout, 'services', path)).href;
      const loaded = (await import(address)) as Record<
        string,
        { shape: ProcessSettings['shape'] } | undefined
      >;
      const configuration = loaded[name];
      if (!configuration) throw new Error(`services/${path} has no ${name}`);
      return { process, shape: configuration.shape };
    }),
  );
}
