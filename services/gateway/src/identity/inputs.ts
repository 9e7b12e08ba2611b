// What the gateway's processor reads.
import type { InputTable } from '@lead-scoring/event-log';

export const identityInputs = {
  'gateway.commands': {
    BootstrapOrganisation: 'taken',
    CreateOrgUnit: 'taken',
    RenameOrgUnit: 'taken',
    EndOrgUnit: 'taken',
    SetActiveOrgUnit: 'taken',
    CreateToken: 'taken',
    RevokeToken: 'taken',
    CreateServiceAccount: 'taken',
    RotateServiceAccountSecret: 'taken',
    RevokeServiceAccount: 'taken',
  },
} as const satisfies InputTable;
