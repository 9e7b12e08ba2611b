// The stored leads of a group, for jobs that look at leads as they are.
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { leadKeysBetween, leadOfKey } from '../keys.js';
import { leads, toLead } from '../leads/documents.js';
import type { Lead } from '../leads/state.js';
import type { HistoryPart } from '../what-if/history.js';

const leadsPerRead = 1_000;

/** The stored leads of a group, in the order of their ids. */
export async function* storedLeads(
  readModel: ReadModel,
  { ouId, partition, leads: group, signal }: HistoryPart,
): AsyncGenerator<Lead, void> {
  if (!('from' in group)) return;
  const edge = (beginning: number, rest: string) =>
    `${beginning.toString(16).padStart(8, '0')}-${rest.repeat(4)}-${rest.repeat(4)}-${rest.repeat(4)}-${rest.repeat(12)}`;
  let after = edge(group.from, '0');
  const to = edge(group.to - 1, 'f');
  for (;;) {
    signal.throwIfAborted();
    const range = leadKeysBetween(ouId, after, to);
    const found = await withClassifiedErrors(() =>
      readModel
        .collection(leads)
        .find({ _id: range, partition })
        .sort({ _id: 1 })
        .limit(leadsPerRead)
        .toArray(),
    );
    for (const document of found) yield toLead(document, ouId);
    const last = found.at(-1);
    if (!last || found.length < leadsPerRead) return;
    after = leadOfKey(last._id);
  }
}
