// The documents of firing: each lead's state, firings, and suppressions (times in which a trigger is silent for a lead
// or an account).
import type { records, TriggerKind } from '@lead-scoring/contracts';
import {
  Binary,
  defineCollection,
  storedJson,
  uuidToBinary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { FiredEvent } from '@lead-scoring/scoring-domain/triggers';
import { subjectIdOf } from './subject-model.js';

/** The state of a lead or of an account. */
export interface StateDocument extends GuardedDocument {
  _id: Binary;
  /** The state as text, without the ids. */
  content: string;
}

export interface FiredDocument {
  /** The firing's id. */
  _id: Binary;
  ou: Binary;
  kind: TriggerKind;
  trigger: Binary;
  /** The lead or, of a firing for an account, the account. */
  lead: Binary;
  fired_at: Date;
  /** The event's payload as on the log, by `storedJson`. */
  json: Binary;
  partition: number;
}

export interface SuppressionDocument extends GuardedDocument {
  /** The `suppressionKey`. */
  _id: Binary;
  ou: Binary;
  trigger: Binary;
  at: Date;
  until: Date;
}

/** By `leadKey`; the content is the text of `packState`. */
export const leadStates = defineCollection<StateDocument>({ name: 'lead_states', indexes: [] });
export const firedEvents = defineCollection<FiredDocument>({
  name: 'fired_events',
  indexes: [
    { key: { ou: 1, kind: 1, fired_at: -1, _id: -1 } },
    { key: { trigger: 1, fired_at: -1, _id: -1 } },
    { key: { lead: 1, fired_at: -1, _id: -1 } },
  ],
});
export const suppressions = defineCollection<SuppressionDocument>({
  name: 'suppressions',
  indexes: [{ key: { ou: 1, trigger: 1, until: -1 } }],
});

export const firingCollections = [leadStates, firedEvents, suppressions];

type AnyFired = FiredEvent['payload'] | records.AccountMilestoneFired;

export function toFiredDocument(payload: AnyFired, json: Buffer, partition: number): FiredDocument {
  return {
    _id: uuidToBinary(payload.firing_id),
    ou: uuidToBinary(payload.ou_id),
    kind: payload.trigger.kind,
    trigger: uuidToBinary(payload.trigger.id),
    lead: uuidToBinary(subjectIdOf(payload)),
    fired_at: new Date(payload.fired_at),
    json: storedJson(json),
    partition,
  };
}

export function toSuppressionDocument(
  suppressed: records.TriggerSuppressed | records.AccountTriggerSuppressed,
  place: { partition: number; offset: number },
): SuppressionDocument {
  const { ou_id, trigger, at, until } = suppressed;
  return {
    _id: suppressionKey(trigger.id, subjectIdOf(suppressed)),
    ou: uuidToBinary(ou_id),
    trigger: uuidToBinary(trigger.id),
    at: new Date(at),
    until: new Date(until),
    ...place,
  };
}

/** Identifies a trigger and the lead or account for which it is silent. */
export function suppressionKey(triggerId: string, id: string): Binary {
  return new Binary(Buffer.from((triggerId + id).replaceAll('-', ''), 'hex'), 0);
}
