// The gateway's table of contents: its capabilities and their dependencies.
import { auditTrail, capabilitiesOf } from '@lead-scoring/capability';
import { organisations } from './identity/capability.js';
import type { CommandSignature } from './identity/command-signature.js';

export interface GatewayCapabilityDependencies {
  /** Verifies commands of the gateway's own topic. */
  signature: Pick<CommandSignature, 'isSigned'>;
}

export const gatewayService = ({ signature }: GatewayCapabilityDependencies) =>
  capabilitiesOf('gateway', [organisations(signature), auditTrail('gateway')], {
    // 2: the audit trail. 3: the limit of the last warning of a quota, and what a member who joins is in the trail.
    version: 3,
  });
