// The share service's table of contents: its capabilities and their dependencies.
import { auditTrail, capabilitiesOf } from '@lead-scoring/capability';
import { shareExplanations, type ShareExplanationsOptions } from './explanation/capability.js';
import { shareLinks, type ShareLinksDependencies } from './links/capability.js';

export type ShareDependencies = ShareLinksDependencies & ShareExplanationsOptions;

export const shareService = (dependencies: ShareDependencies) =>
  capabilitiesOf('share', [shareExplanations(dependencies), shareLinks(dependencies), auditTrail('share')], {
    version: 5,
  });
