// One batch of records on its way through the triggers: what is decided on each record in order, and the records for the log
// that come of it.
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { ShareLinks } from '../share-links.js';
import { nameOf, type AccountsOfBatch } from './accounts.js';
import type { DescribedFiring, PendingFiring } from './firing-descriptions.js';
import type { FoldedLead } from './firing-store.js';
import { isExplained } from './forget-model.js';
import type { LeadRecord } from './lead-records.js';
import { firingRecords, isFired, type FiringDraft, type FiringEvent } from './messages.js';
import { requestsOf, shareOf } from './notification-model.js';
import { initialLeadState, type LeadState } from './state.js';

/** Firings, notifications and commands to forget in one batch, which bounds its memory. */
const maximumOutput = 1_000;

type PendingDraft = Omit<PendingFiring, 'draft'> & { readonly draft: FiringDraft };

export class FiringBatch {
  /** By name of the lead, as the records before have left them. */
  readonly #states = new Map<string, LeadState>();
  readonly #drafts: PendingDraft[] = [];
  #outputs = 0;
  /**
   * By payload of the last event of each decision, the state that the lead has with it. The batch is folded next, and then
   * need not compute the state again.
   */
  readonly decidedStates = new Map<object, LeadState>();

  /** @param before states of all leads of the batch, by name */
  constructor(
    private readonly before: ReadonlyMap<string, FoldedLead | null>,
    private readonly accounts: AccountsOfBatch,
  ) {}

  decide(leadRecord: LeadRecord): void {
    const name = nameOf(leadRecord);
    const state =
      this.#states.get(name) ??
      this.before.get(name)?.state ??
      initialLeadState(leadRecord.ou_id, leadRecord.lead_id);
    const decision = leadRecord.decide(state);
    this.#states.set(name, decision.state);
    const last = decision.events.at(-1);
    if (!last) return;
    this.decidedStates.set(last.payload, decision.state);
    const seen = this.accounts.now(leadRecord);
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

  /** @param forgettings commands to forget, which are counted too */
  isTooLarge(forgettings = 0): boolean {
    return this.#outputs + forgettings > maximumOutput;
  }
}

export const tooLargeReason = `more than ${String(maximumOutput)} firings and notifications in one batch`;

/** Everything that the log is told for the drafts of a batch. */
export interface FiringOutput {
  /** In the order of the batch's firings. */
  readonly firings: readonly DescribedFiring[];
  /** By payload of the event that forgets a lead. */
  readonly forgettings: ReadonlyMap<FiringDraft['payload'], readonly records.ForgetLead[]>;
  /** null: no links are made. */
  readonly shareLinks: ShareLinks | null;
}

/** The events of a batch and the commands that they cause, each in the order of the drafts. */
export function recordsOf(
  drafts: readonly FiringDraft[],
  { firings, forgettings, shareLinks }: FiringOutput,
): { events: OutgoingRecord[]; commands: OutgoingRecord[] } {
  const commands: OutgoingRecord[] = [];
  const described = firings.values();
  const events = drafts.map((draft) => {
    if (!isFired(draft)) {
      for (const command of forgettings.get(draft.payload) ?? [])
        commands.push(outgoing(records.forgetLead, { key: command.channel_id, payload: command }));
      return eventRecord(draft);
    }
    const { value: firing } = described.next();
    if (!firing) throw new Error('a firing was not described');
    for (const command of commandsOf(firing, shareLinks)) commands.push(command);
    return eventRecord(firing.event);
  });
  return { events, commands };
}

/** The notifications of a firing, and the share link that they name. */
function commandsOf(
  { event, lead_seen_in }: DescribedFiring,
  shareLinks: ShareLinks | null,
): OutgoingRecord[] {
  // A link takes longer to make than all else of a firing, so a firing without channels gets none.
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

function eventRecord({ type, payload }: FiringEvent): OutgoingRecord {
  return outgoing(firingRecords[type], { key: payload.lead_id, payload });
}
