// The walks over an OU's leads that follow a change of its decay rules: one in each partition. Pure.
import { records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import {
  evolveConfiguration,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { publicationDeadline } from '../configuration/publication.js';

/** The first step of each walk; none where no tick has changed. */
export function walksOf(
  before: ScoringConfiguration,
  events: readonly ConfigurationEvent[],
  partitions: number,
): OutgoingRecord[] {
  const { ou_id } = before;
  const version = events.reduce(evolveConfiguration, before).decays?.version ?? 0;
  if (version === (before.decays?.version ?? 0)) return [];
  const changedAt = events.at(-1)?.payload.at ?? '';
  const until = publicationDeadline(changedAt);
  return Array.from({ length: partitions }, (_, partition) =>
    outgoing(records.scheduleDecays, {
      key: String(partition),
      partition,
      payload: { ou_id, partition, version, after: null, until },
    }),
  );
}
