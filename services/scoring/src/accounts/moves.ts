// The first step of moving the leads of a merged account, in the partition of that account. Pure.
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { ConfigurationEvent, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { publicationDeadline } from '../configuration/publication.js';

export function movesOf(
  { version }: Pick<ScoringConfiguration, 'version'>,
  events: readonly ConfigurationEvent[],
): OutgoingRecord[] {
  return events.flatMap((event, index) => {
    if (event.type !== 'AccountsMerged') return [];
    const { ou_id, source, at } = event.payload;
    const payload = {
      ou_id,
      account_id: source.account_id,
      version: version + index + 1,
      after: null,
      until: publicationDeadline(at),
    };
    return [outgoing(records.moveAccountLeads, { key: source.account_id, payload })];
  });
}
