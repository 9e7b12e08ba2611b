// The events of identity, with the command that caused each.
import type { PayloadOf, RecordDeclaration, records } from '@lead-scoring/contracts';

type EventOf<Declaration extends RecordDeclaration> = {
  type: Declaration['type'];
  payload: PayloadOf<Declaration>;
  /** The header `causation-id`. */
  command_id: string;
};

export type IdentityEvent =
  | EventOf<typeof records.organisationCreated>
  | EventOf<typeof records.orgUnitCreated>
  | EventOf<typeof records.orgUnitRenamed>
  | EventOf<typeof records.orgUnitEnded>
  | EventOf<typeof records.activeOrgUnitSet>
  | EventOf<typeof records.orgUnitGranted>
  | EventOf<typeof records.orgUnitWithdrawn>
  | EventOf<typeof records.tokenCreated>
  | EventOf<typeof records.tokenRevoked>
  | EventOf<typeof records.serviceAccountCreated>
  | EventOf<typeof records.serviceAccountSecretRotated>
  | EventOf<typeof records.serviceAccountRevoked>;
