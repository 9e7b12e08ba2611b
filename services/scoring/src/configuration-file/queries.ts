// The configuration as one document, of now and of earlier versions, and the list of its versions.
import { routes, shownActor, type routeDeclarations } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import type { ConfigurationEvent, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, ProblemError, VersionedAnswer, type BoundQuery } from '@lead-scoring/service';
import { changesPage, configurationOfVersion } from '../configuration-changes/documents.js';
import type { PublishedConfigurations } from '../configuration/published.js';
import { loadOne } from '../configuration/queries.js';
import { documentOf } from './document-model.js';

export function configurationFileQueries(
  readModel: ReadModel,
  configurations: PublishedConfigurations,
): BoundQuery[] {
  return [
    bindQuery(routes.getConfiguration, async ({ query, context }) => {
      const current = await loadOne(configurations, context.ouId);
      const configuration = await versionOf(readModel, current, query.version ?? current.version);
      return new VersionedAnswer(configuration.version, documentOf(configuration));
    }),
    bindQuery(routes.listConfigurationVersions, async ({ query, context }) => {
      const { total, changes } = await changesPage(readModel, context.ouId, query);
      return { ...query, total, data: changes.map(({ version, event }) => rowOf(version, event)) };
    }),
  ];
}

async function versionOf(
  readModel: ReadModel,
  current: ScoringConfiguration,
  version: number,
): Promise<ScoringConfiguration> {
  if (version === current.version) return current;
  if (version > current.version)
    throw new ProblemError(
      404,
      'configuration_version_not_found',
      `The configuration has version ${String(current.version)} and never had version ${String(version)}. GET /scoring/configuration/versions lists its versions.`,
    );
  return configurationOfVersion(readModel, current.ou_id, version);
}

function rowOf(
  version: number,
  { type, payload }: ConfigurationEvent,
): routeDeclarations.ConfigurationVersion {
  const { at, actor } = payload;
  const { name, label, event_type } = payload as { name?: string; label?: string; event_type?: string };
  return {
    version,
    changed_at: at,
    changed_by: shownActor(actor),
    change: type.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
    name: name ?? label ?? event_type ?? null,
  };
}
