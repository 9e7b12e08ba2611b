// What the share service's processor reads; the explanations' projector beside it has a table of its own.
import type { InputTable } from '@lead-scoring/event-log';

export const shareInputs = {
  'share.commands': { CreateShare: 'taken', RevokeShare: 'taken' },
} as const satisfies InputTable;
