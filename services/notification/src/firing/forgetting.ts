// Finds and deletes the stored firings of deleted leads, and finds the channels that were notified of them. Firings are read as
// a stream, so that memory does not grow with their number.
import type { records } from '@lead-scoring/contracts';
import {
  deleteByIds,
  readJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { isFired, isForgetting, type FiredDraft, type FiringDraft, type Source } from './messages.js';
import { isEnded } from './forget-model.js';
import type { LeadState } from './state.js';
import { firedEvents, suppressionKey, suppressions } from './documents.js';

type Firing = Pick<FiredDraft['payload'], 'ou_id' | 'lead_id' | 'source' | 'channel_ids'>;
/** Finds the first deletion that a firing is forgotten with. */
type FindEnd = (firing: Firing) => records.LeadForgotten | undefined;

export interface ForgottenLead {
  /** The state before the event that forgets the lead. */
  readonly before: LeadState;
  /** The topic that reports the deletion. */
  readonly topic: Source['topic'];
  /** Offset of the `LeadForgotten` event. */
  readonly offset: number;
}

/** Maximum number of leads in one call to the database. */
const leadsAtOnce = 500;
const firingsAtOnce = 500;

/** The commands to forget a lead, one per channel that was notified of it, by payload of the `LeadForgotten` draft. */
export async function forgettingsOf(
  readModel: ReadModel,
  drafts: readonly FiringDraft[],
): Promise<Map<FiringDraft['payload'], records.ForgetLead[]>> {
  const forgotten = forgottenIn(drafts);
  if (forgotten.length === 0) return new Map();
  const channelsByEnd = new Map(forgotten.map((end) => [end, new Set<string>()]));
  const endOf = endsOf(forgotten);
  const addChannels = (firing: Firing) => {
    const end = endOf(firing);
    for (const id of firing.channel_ids) if (end) channelsByEnd.get(end)?.add(id);
  };
  await visitFirings(readModel, forgotten, addChannels);
  // Firings of the same batch are not stored yet.
  for (const draft of drafts) if (isFired(draft)) addChannels(draft.payload);
  return new Map(
    [...channelsByEnd].map(([end, channels]) => {
      const { ou_id, lead_id, source, at } = end;
      const commands = [...channels].map((channel_id) => ({
        ou_id,
        channel_id,
        lead_id,
        before: source,
        requested_at: at,
      }));
      return [end, commands];
    }),
  );
}

/** Deletes the firings that are forgotten with these events. */
export async function deleteFirings(readModel: ReadModel, events: readonly FiringDraft[]): Promise<void> {
  const forgotten = forgottenIn(events);
  if (forgotten.length === 0) return;
  const endOf = endsOf(forgotten);
  const ids: Binary[] = [];
  await visitFirings(readModel, forgotten, (firing, id) => {
    if (endOf(firing)) ids.push(id);
  });
  await deleteByIds(readModel.collection(firedEvents), ids);
}

/** Deletes the suppressions of these leads, except those that began after the lead was forgotten. */
export async function deleteSuppressions(
  readModel: ReadModel,
  forgotten: readonly ForgottenLead[],
): Promise<void> {
  for (const { before, topic, offset } of forgotten) {
    const keys = [...before.memories]
      .filter(([, memory]) => memory.topic === topic && memory.suppressed !== null)
      .map(([triggerId]) => suppressionKey(triggerId, before.lead_id));
    if (keys.length === 0) continue;
    await withClassifiedErrors(() =>
      readModel.collection(suppressions).deleteMany({ _id: { $in: keys }, offset: { $lt: offset } }),
    );
  }
}

function forgottenIn(events: readonly FiringDraft[]): records.LeadForgotten[] {
  return events.flatMap((event) => (isForgetting(event) ? [event.payload] : []));
}

function endsOf(forgotten: readonly records.LeadForgotten[]): FindEnd {
  const ends = new Map<string, records.LeadForgotten[]>();
  for (const end of forgotten) ends.set(end.lead_id, [...(ends.get(end.lead_id) ?? []), end]);
  return ({ ou_id, lead_id, source }) =>
    ends.get(lead_id)?.find((end) => end.ou_id === ou_id && isEnded(source, end.source));
}

/** Calls `visit` for each stored firing of the leads. */
async function visitFirings(
  readModel: ReadModel,
  forgotten: readonly records.LeadForgotten[],
  visit: (firing: Firing, id: Binary) => void,
): Promise<void> {
  const leads = [...new Set(forgotten.map(({ lead_id }) => lead_id))].map(uuidToBinary);
  for (let from = 0; from < leads.length; from += leadsAtOnce)
    await withClassifiedErrors(async () => {
      const found = readModel
        .collection(firedEvents)
        .find(
          { lead: { $in: leads.slice(from, from + leadsAtOnce) } },
          { projection: { json: 1 }, batchSize: firingsAtOnce },
        );
      for await (const { _id, json } of found) visit(readJson(json) as unknown as Firing, _id);
    });
}
