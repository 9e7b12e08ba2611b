// Entries of the audit trail as lines of CSV. Pure.
import { csvLine, type routeDeclarations } from '@lead-scoring/contracts';

/** Without a byte order mark, spreadsheets do not recognise UTF-8. */
const byteOrderMark = '\uFEFF';

const titles = [
  ...['at', 'service', 'ou_id', 'kind', 'action', 'subject_id', 'subject_name'],
  ...['actor_kind', 'actor_id', 'actor_name', 'address', 'before', 'after', 'id'],
];

export const auditCsvHeader = byteOrderMark + csvLine(titles);

export function auditCsvLine(entry: routeDeclarations.AuditEntry): string {
  const { id, at, service, ou_id, kind, action, subject, actor, address, before, after } = entry;
  return csvLine([
    ...[at, service, ou_id, kind, action, subject.id, subject.name],
    ...[actor?.kind, actor?.id, actor?.name, address, before, after, id],
  ]);
}
