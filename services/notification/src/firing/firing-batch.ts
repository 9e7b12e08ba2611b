// One batch of records: decides on each in order, and makes the events and commands for the log.
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import {
  type FiringDraft,
  type FiringEvent,
  initialLeadState,
  isExplained,
  type LeadState,
} from '@lead-scoring/scoring-domain/triggers';
import type { ShareLinks } from '../share-links.js';
import type { DescribedFiring, PendingFiring } from './firing-descriptions.js';
import type { FoldedSubject } from './firing-fold.js';
import type { Forgettings } from './forgetting.js';
import type { LeadMoment } from './filtered-leads.js';
import type { LeadRecord } from './lead-records.js';
import { firingRecords } from './messages.js';
import { requestsOf, shareOf } from './notification-model.js';
import { cacheKeyOf, isFired, isForgetting } from './subject-model.js';

/** Maximum number of firings, notifications and commands to forget in one batch: bounds the memory of a batch. */
const maximumOutput = 1_000;

type PendingDraft = Omit<PendingFiring, 'draft'> & { readonly draft: FiringDraft };

export class FiringBatch {
  /** By cache key of the lead, after the records that were decided so far. */
  readonly #states = new Map<string, LeadState>();
  readonly #drafts: PendingDraft[] = [];
  #outputs = 0;
  /**
   * The lead's state after each decision, by the payload of the decision's last event. The fold of this batch takes the states
   * from here and does not compute them again.
   */
  readonly decidedStates = new Map<object, LeadState>();

  /** @param before states of all leads of the batch, by cache key */
  constructor(private readonly before: ReadonlyMap<string, FoldedSubject<LeadState> | null>) {}

  /** @param of the lead as of the record: what passed of it, and its fields where the record asks filters */
  decide(leadRecord: LeadRecord, { seen, lead }: LeadMoment): void {
    const key = cacheKeyOf(leadRecord);
    const state =
      this.#states.get(key) ??
      this.before.get(key)?.state ??
      initialLeadState(leadRecord.ou_id, leadRecord.lead_id);
    const decision = leadRecord.decide(state, lead);
    this.#states.set(key, decision.state);
    const last = decision.events.at(-1);
    if (!last) return;
    this.decidedStates.set(last.payload, decision.state);
    const isOwnExplanation = leadRecord.source.topic === 'scoring.events' || isExplained(state);
    for (const draft of decision.events) {
      this.#drafts.push({ draft, leadRecord, seen, isExplained: isOwnExplanation });
      if (isFired(draft)) this.#outputs += 1 + draft.payload.channel_ids.length;
    }
  }

  get drafts(): readonly FiringDraft[] {
    return this.#drafts.map(({ draft }) => draft);
  }

  get firings(): readonly PendingFiring[] {
    return this.#drafts.flatMap(({ draft, ...one }) => (isFired(draft) ? [{ ...one, draft }] : []));
  }

  /** @param forgettings number of commands to forget */
  isTooLarge(forgettings = 0): boolean {
    return this.#outputs + forgettings > maximumOutput;
  }
}

export const tooLargeReason = `more than ${String(maximumOutput)} firings and notifications in one batch`;

/** What `recordsOf` needs besides the drafts of a batch. */
export interface FiringOutput {
  /** In the order of the drafts. */
  readonly firings: readonly DescribedFiring[];
  readonly forgettings: Forgettings;
  /** null: no links are made. */
  readonly shareLinks: ShareLinks | null;
}

/** The events of a batch and the commands that they cause, both in the order of the drafts. */
export function recordsOf(
  drafts: readonly FiringDraft[],
  { firings, forgettings, shareLinks }: FiringOutput,
): { events: OutgoingRecord[]; commands: OutgoingRecord[] } {
  const commands: OutgoingRecord[] = [];
  const described = firings.values();
  const events = drafts.map((draft) => {
    if (!isFired(draft)) {
      if (isForgetting(draft)) commands.push(...forgettingRecords(draft.payload, forgettings));
      return eventRecord(draft);
    }
    const { value: firing } = described.next();
    if (!firing) throw new Error('a firing was not described');
    for (const command of commandsOf(firing, shareLinks)) commands.push(command);
    return eventRecord(firing.event);
  });
  return { events, commands };
}

/** Requests the notifications of a firing and the share link that they contain. */
function commandsOf(
  { event, lead_seen_in }: DescribedFiring,
  shareLinks: ShareLinks | null,
): OutgoingRecord[] {
  // Making a link takes longer than the rest of a firing, so a firing without channels gets none.
  const isSent = event.payload.channel_ids.length > 0;
  const link = (isSent ? shareLinks?.of(event.payload.firing_id) : undefined) ?? null;
  const commands: OutgoingRecord[] = requestsOf(event, link).map((request) =>
    outgoing(records.requestNotification, { key: request.channel_id, payload: request }),
  );
  if (link) {
    const share = shareOf(event, lead_seen_in, link);
    commands.push(outgoing(records.createShare, { key: share.share_id, payload: share }));
  }
  return commands;
}

function forgettingRecords(end: records.LeadForgotten, forgettings: Forgettings): OutgoingRecord[] {
  const { lead_id } = end;
  return (forgettings.get(end) ?? []).map((forgetting) =>
    outgoing(records.forgetLead, { key: forgetting.channel_id, payload: { ...forgetting, lead_id } }),
  );
}

function eventRecord({ type, payload }: FiringEvent): OutgoingRecord {
  return outgoing(firingRecords[type], { key: payload.lead_id, payload });
}
