// The share service's table of contents: its capabilities, and what they need.
import { capabilitiesOf } from '@lead-scoring/capability';
import { shareLinks, type ShareLinksDependencies } from './links/capability.js';

export const shareService = (dependencies: ShareLinksDependencies) =>
  capabilitiesOf('share', [shareLinks(dependencies)]);
