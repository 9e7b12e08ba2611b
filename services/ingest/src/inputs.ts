// What the ingest service reads.
import type { InputTable } from '@lead-scoring/event-log';

export const ingestInputs = {
  'ingest.commands': {
    IngestEvents: 'taken',
    LinkAlias: 'taken',
    DeleteLead: 'taken',
    UnlinkAlias: 'taken',
    RememberEvents: 'taken',
  },
} as const satisfies InputTable;
