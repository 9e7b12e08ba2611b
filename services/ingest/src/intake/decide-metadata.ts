// Decides on what is set for leads: patches by callers, and what goes from lead to lead when these are merged. Pure.
import {
  isWithoutMetadata,
  metadataInForce,
  noMetadata,
  patchedMetadata,
  problemOfMetadata,
  withJoined,
  type JoinedMetadata,
  type records,
  type SetMetadata,
} from '@lead-scoring/contracts';
import { nextPath, type BatchAliases } from './aliases-model.js';
import type { BatchDeletions } from './deletions-model.js';
import type { IntakeCommand, IntakeReply } from './messages.js';
import type { BatchMetadata } from './metadata-model.js';
import type { BatchOutput } from './output-model.js';

export interface MetadataDecider {
  readonly metadata: BatchMetadata;
  readonly aliases: BatchAliases;
  readonly deletions: BatchDeletions;
  readonly output: BatchOutput;
}

/** Changes what is set for the lead, or forwards the command as an event of the lead would be forwarded. */
export function patchLead(
  command: Extract<IntakeCommand, { type: 'PatchLeadMetadata' }>,
  { metadata, aliases, deletions, output }: MetadataDecider,
): void {
  const { payload } = command;
  const { ou_id, lead_id, patch_id, patch, requested_at: patched_at, actor } = payload;
  const reply = (answer: IntakeReply) => output.replies.push({ to: command, reply: answer });
  const destination = aliases.destinationOf(payload);
  if (destination.to !== 'keep') {
    const onward: IntakeCommand = {
      type: 'PatchLeadMetadata',
      payload: { ...payload, ...nextPath(payload, destination) },
    };
    output.commands.push({ lead_id: destination.lead_id, command: onward, answers: command });
    return;
  }
  if (!deletions.hasEvents(ou_id, lead_id)) {
    reply(rejected('lead_not_found', 'No lead of this organizational unit has this id.'));
    return;
  }
  const known = metadata.of(lead_id);
  const set = { own: patchedMetadata(known.own, patch), joined: known.joined };
  const isChange = !known.patches.includes(patch_id) && JSON.stringify(set.own) !== JSON.stringify(known.own);
  const problem = isChange ? problemOfMetadata(set) : null;
  if (problem !== null) {
    reply(rejected('limit_reached', `With this patch, ${problem}. Set less, or take keys back with null.`));
    return;
  }
  if (isChange)
    metadata.record({
      ...{ ou_id, lead_id, patch_id, patch },
      ...metadataFields(set),
      ...{ fire_triggers: true, patched_at },
      ...(actor && { actor }),
    });
  reply({ outcome: 'done', result: { lead_id, metadata: metadataInForce(metadata.of(lead_id)) } });
}

/** Sets metadata that comes from other leads. The command takes the same way as the events of these leads, and comes after them. */
export function carryMetadata(
  { carried, linked_by, after, ...command }: records.CarryLeadMetadata,
  { metadata, aliases, deletions, output }: MetadataDecider,
): void {
  const { ou_id, lead_id, carried_at, actor } = command;
  const isGone =
    (linked_by !== undefined && !aliases.hasClaimed(lead_id, linked_by)) ||
    (after !== undefined && deletions.lastDeletionOf(lead_id) !== after);
  if (isGone) return;
  const destination = aliases.destinationOf(command);
  if (destination.to !== 'keep') {
    const payload = { ...command, carried, ...nextPath(command, destination) };
    output.commands.push({ lead_id: destination.lead_id, command: { type: 'CarryLeadMetadata', payload } });
    return;
  }
  const known = metadata.of(lead_id);
  // A lead that was divided and has no events left is no more.
  const set = deletions.hasEvents(ou_id, lead_id) ? withCarried(known, lead_id, carried) : noMetadata;
  if (!isWithoutMetadata(known) || !isWithoutMetadata(set))
    tell(metadata, { ou_id, lead_id, patched_at: carried_at, actor }, set);
}

/**
 * Called when all events of a divided lead have been sent again. Metadata of leads that leave goes to the lead that they leave with. The
 * rest is sent to the divided lead again, behind its events, because readers have dropped the lead.
 */
export function divideMetadata(
  { ou_id, lead_id, alias_lead_id, unmerged_at: carried_at, followed, actor }: records.SendDivided,
  leaving: ReadonlySet<string>,
  { metadata, output }: Pick<MetadataDecider, 'metadata' | 'output'>,
): void {
  const by = actor && { actor };
  const { own, joined } = metadata.of(lead_id);
  const staying = { own, joined: joined.filter((one) => !leaving.has(one.lead_id)) };
  const carried = joined.filter((one) => leaving.has(one.lead_id));
  if (carried.length > 0) {
    tell(metadata, { ou_id, lead_id, patched_at: carried_at, actor }, staying);
    carry(output, { ...by, ou_id, lead_id: alias_lead_id, carried, carried_at, after: followed });
  }
  if (!isWithoutMetadata(staying)) carry(output, { ...by, ou_id, lead_id, carried: [], carried_at });
}

/** A lead joins another: what was set for it goes along, after its events. */
export function bringMetadata(
  { ou_id, alias_lead_id, lead_id, linked_at: carried_at, actor }: records.JoinLead,
  { metadata, output }: Pick<MetadataDecider, 'metadata' | 'output'>,
): void {
  const carried = metadata.broughtBy(alias_lead_id);
  if (carried.length === 0) return;
  carry(output, { ou_id, lead_id, carried, carried_at, linked_by: alias_lead_id, ...(actor && { actor }) });
}

function carry(output: BatchOutput, payload: records.CarryLeadMetadata): void {
  output.commands.push({ lead_id: payload.lead_id, command: { type: 'CarryLeadMetadata', payload } });
}

function tell(
  metadata: BatchMetadata,
  { actor, ...told }: Pick<records.LeadMetadataPatched, 'ou_id' | 'lead_id' | 'patched_at' | 'actor'>,
  set: SetMetadata,
): void {
  metadata.record({ ...told, ...metadataFields(set), fire_triggers: false, ...(actor && { actor }) });
}

/** What was set for the lead itself comes back to it; a key that was set again meanwhile stays. */
function withCarried(known: SetMetadata, leadId: string, carried: readonly JoinedMetadata[]): SetMetadata {
  const returning = carried.filter(({ lead_id }) => lead_id === leadId);
  const own = metadataInForce({ own: known.own, joined: returning });
  return withJoined(
    { own, joined: known.joined },
    carried.filter(({ lead_id }) => lead_id !== leadId),
  );
}

function metadataFields(set: SetMetadata): Pick<records.LeadMetadataPatched, 'metadata' | 'own' | 'joined'> {
  const metadata = metadataInForce(set);
  return set.joined.length === 0 ? { metadata } : { metadata, own: set.own, joined: [...set.joined] };
}

function rejected(code: 'lead_not_found' | 'limit_reached', message: string): IntakeReply {
  return { outcome: 'rejected', code, message };
}
