// Turns an audited event into the change that the audit trail shows: the thing, the action, and what differs. Pure.
import { auditOf, type AuditedEvent, type AuditedService, type RecordedActor } from '@lead-scoring/contracts';
import { gatewayReadings } from './gateway-readings.js';
import { ingestReadings } from './ingest-readings.js';
import { notificationReadings } from './notification-readings.js';
import { scoringReadings } from './scoring-readings.js';
import { shareReadings } from './share-readings.js';
import type { Reading, SubjectChange } from './subject-change.js';

const readings: { readonly [Service in AuditedService]: object } = {
  gateway: gatewayReadings,
  ingest: ingestReadings,
  notification: notificationReadings,
  scoring: scoringReadings,
  share: shareReadings,
};

/** The change that an audited event records. */
export interface AuditedChange extends AuditedEvent {
  readonly at: string;
  readonly actor: RecordedActor | null;
  /** The organizational unit; null: the organisation as a whole. */
  readonly ouId: string | null;
  readonly organisationId: string | null;
  readonly subjects: readonly SubjectChange[];
}

interface Payload {
  ou_id?: string;
  organisation_id?: string;
  actor?: RecordedActor;
  at?: string;
  created_at?: string;
  deleted_at?: string;
  unlinked_at?: string;
  patched_at?: string;
  decided_at?: string;
}

/** The changes in an event; null where its type is not audited, or the event itself changes nothing that is. */
export function auditedChange(
  service: AuditedService,
  { type, payload }: { type: string; payload: unknown },
): AuditedChange | null {
  const audit = auditOf({ topic: `${service}.events`, type });
  if (!audit || 'unaudited' in audit) return null;
  const read = (readings[service] as Readonly<Record<string, Reading<unknown>>>)[type];
  const subjects = read?.(payload) ?? [];
  if (subjects.length === 0) return null;
  const { ou_id, organisation_id, actor, ...times } = payload as Payload;
  const at =
    times.at ??
    times.created_at ??
    times.deleted_at ??
    times.unlinked_at ??
    times.patched_at ??
    times.decided_at;
  if (at === undefined) throw new Error(`an audited ${type} has no time`);
  const { kind, action } = audit;
  return {
    ...{ kind, action, at, subjects },
    actor: actor ?? null,
    ouId: organisation_id === undefined ? (ou_id ?? null) : null,
    organisationId: organisation_id ?? null,
  };
}
