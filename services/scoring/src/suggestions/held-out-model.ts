// Which leads a suggestion learns from, and which are held out to judge it. Pure.
import { records } from '@lead-scoring/contracts';

/** By the last digits of a lead's id, which are digits of a hash: the same leads in every suggestion, and whatever their events are. */
export function isHeldOut(leadId: string): boolean {
  return Number.parseInt(leadId.slice(-8), 16) % records.suggestionLimits.heldOutOneIn === 0;
}
