// The versions that the scoring configuration of an OU has had, and the way back to one of them.
import { z } from 'zod';
import { page, pageParameters, time, wholeNumber } from '../common.js';
import { actor } from '../vocabulary/actor.js';
import { configurationChanges, dryRunQuery } from './configuration-file.js';
import { defineRoute, editor, viewer } from './route.js';

const shared = { owner: 'scoring', tag: 'Scoring configuration' } as const;

export const configurationVersion = z
  .strictObject({
    version: z.int().min(1),
    changed_at: time,
    changed_by: actor.optional().describe('Who made the change, where it is known.'),
    change: z
      .string()
      .max(100)
      .describe('The name of the public record of the change, in snake_case.')
      .meta({ example: 'rule_created' }),
    name: z
      .string()
      .max(300)
      .nullable()
      .describe('The name or label of what was changed; null where it has none.'),
  })
  .meta({ id: 'ConfigurationVersion' });
export type ConfigurationVersion = z.infer<typeof configurationVersion>;

export const listConfigurationVersions = defineRoute({
  ...shared,
  name: 'listConfigurationVersions',
  method: 'GET',
  path: '/scoring/configuration/versions',
  kind: 'query',
  access: viewer,
  summary: 'The versions of the scoring configuration',
  description:
    'Newest first. Each single change makes a version; a document that changes forty things makes forty of them at the same time, and only the last of these was ever in force. `GET /scoring/configuration?version=` shows one whole.',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Versions', schema: page(configurationVersion) } },
  problems: [],
});

export const restoreConfiguration = defineRoute({
  ...shared,
  name: 'restoreConfiguration',
  method: 'POST',
  path: '/scoring/configuration/restore',
  kind: 'command',
  access: editor,
  summary: 'Go back to an earlier version of the scoring configuration',
  description:
    'Makes the configuration equal to the document of an earlier version, as PUT /scoring/configuration does with a document: as one change with one author, which makes new versions and can be taken back in the same way. Rules that still exist keep their ids and histories; deleted ones are made anew and come last in lists. Points that were given stay. A filter that named a level, a ruleset or a cell of the grid that was gone at that time already can only be restored while it is as it was then. With `dry_run=true` it only says what would change. With `If-Match` it is refused (412) if somebody has changed the configuration since it was read.',
  entityTag: true,
  query: dryRunQuery,
  body: z
    .strictObject({
      version: wholeNumber(0, 2_147_483_647).describe('0: as before the first change, with nothing in it.'),
    })
    .meta({ id: 'ConfigurationRestore', example: { version: 12 } }),
  responses: { 200: { description: 'What has changed, or would change', schema: configurationChanges } },
  problems: [
    'configuration_version_not_found',
    'level_not_found',
    'grid_not_found',
    'ruleset_not_found',
    'configuration_changed',
  ],
});
