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
    // 2: the audit trail.
    version: 2,
  });
