// A deal: what events say of it, the leads that named it, and the points that rules give it as long as they match.
import type { DealChange, DealFieldName, JsonObject, records } from '@lead-scoring/contracts';
import type { HeldPoints } from '@lead-scoring/scoring-domain';
import type { GivenPoints } from '../condition-rules/points-model.js';

/** A value with the time of the event that gave it; null: the field has no value. */
export type KnownDealValue = Pick<DealChange, 'value' | 'at'>;

export interface Deal {
  readonly ou_id: string;
  readonly key: string;
  /** The sender's id. */
  readonly id: string;
  readonly fields: Readonly<Partial<Record<DealFieldName, KnownDealValue>>>;
  /** In the order in which they named it. */
  readonly leads: readonly string[];
  /** In the order in which the rules began to match. */
  readonly given: readonly GivenPoints[];
  /** Points that limits of rulesets hold. */
  readonly held: readonly HeldPoints[];
  /** The sum of the given and the held points. */
  readonly score: number;
  /** Its leads were sent its score. Absent before its first score, and for a deal that was scored before leads had deal scores. */
  readonly score_sent?: true;
  /**
   * The changes since the score last changed: they left the score as it is, so the leads get them with its next change. Absent where
   * there are none, and where the score is 0. Kept up to one more than a command can have: then the next change has no reasons.
   */
  readonly unsent?: readonly records.DealAdjustment[];
  readonly created_at: string;
  readonly updated_at: string;
}

/** The deal as conditions see it: fields without a value are absent. */
export function conditionFieldsOf({ id, fields }: Pick<Deal, 'id' | 'fields'>): JsonObject {
  const subject: JsonObject = { id };
  for (const [field, { value }] of Object.entries(fields)) if (value !== null) subject[field] = value;
  return subject;
}
