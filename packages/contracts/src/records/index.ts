// All record declarations, by type and by topic.
import { accountBackfillRecords } from './account-backfill.js';
import { accountScoringRecords } from './account-scoring.js';
import { leadImportRecords } from './lead-imports.js';
import { leadMergeRecords } from './lead-merges.js';
import { leadMetadataRecords } from './lead-metadata.js';
import { levelBackfillRecords } from './level-backfill.js';
import { challengerRecords } from './challengers.js';
import { configurationFileRecords } from './configuration-file.js';
import { decayRecords } from './decays.js';
import { dealScoringRecords } from './deal-scoring.js';
import { eventTypeBackfillRecords } from './event-type-backfill.js';
import { eventScoresDeleted, ingestDeletionRecords } from './event-deletion.js';
import { gatewayRecords } from './gateway.js';
import { importRecords } from './imports.js';
import { ingestRecords } from './ingest.js';
import { ingestJobRecords } from './ingest-jobs.js';
import { limitRecords } from './limits.js';
import { memberRecords } from './members.js';
import { notificationRecords } from './notification.js';
import { profileLevelRecords } from './profile-levels.js';
import { profileScoringRecords } from './profile-scoring.js';
import type { RecordDeclaration, TopicName } from './record.js';
import { scoreAdjustedRecords } from './score-adjusted.js';
import { scoringRecords } from './scoring.js';
import { shareRecords } from './share.js';
import { rescoringRecords } from './rescoring.js';
import { ruleRecords } from './rules.js';
import { scoringJobRecords } from './scoring-jobs.js';
import { siteAnalysisRecords } from './site-analysis.js';
import { suggestionRecords } from './suggestions.js';
import { whatIfRecords } from './what-if.js';
import { commandReplied, inputsRead, positionsAccepted, rebuildReadModels, recordErased } from './system.js';

export const recordDeclarations: readonly RecordDeclaration[] = [
  ...gatewayRecords,
  ...memberRecords,
  ...limitRecords,
  ...ingestRecords,
  ...ingestJobRecords,
  ...ingestDeletionRecords,
  ...eventTypeBackfillRecords,
  eventScoresDeleted,
  ...importRecords,
  ...leadImportRecords,
  ...leadMergeRecords,
  ...leadMetadataRecords,
  ...scoringRecords,
  ...profileScoringRecords,
  ...dealScoringRecords,
  ...accountBackfillRecords,
  ...levelBackfillRecords,
  ...accountScoringRecords,
  ...scoreAdjustedRecords,
  ...decayRecords,
  ...configurationFileRecords,
  ...profileLevelRecords,
  ...notificationRecords,
  ...shareRecords,
  ...siteAnalysisRecords,
  ...ruleRecords,
  ...whatIfRecords,
  ...challengerRecords,
  ...suggestionRecords,
  ...rescoringRecords,
  ...scoringJobRecords,
  commandReplied,
  ...rebuildReadModels,
  ...inputsRead,
  ...positionsAccepted,
  ...recordErased,
];

type ServiceRecord =
  | (typeof gatewayRecords)[number]
  | (typeof limitRecords)[number]
  | (typeof memberRecords)[number]
  | (typeof ingestRecords)[number]
  | (typeof ingestJobRecords)[number]
  | (typeof ingestDeletionRecords)[number]
  | (typeof eventTypeBackfillRecords)[number]
  | typeof eventScoresDeleted
  | (typeof importRecords)[number]
  | (typeof leadImportRecords)[number]
  | (typeof leadMergeRecords)[number]
  | (typeof leadMetadataRecords)[number]
  | (typeof scoringRecords)[number]
  | (typeof profileScoringRecords)[number]
  | (typeof dealScoringRecords)[number]
  | (typeof accountBackfillRecords)[number]
  | (typeof levelBackfillRecords)[number]
  | (typeof accountScoringRecords)[number]
  | (typeof scoreAdjustedRecords)[number]
  | (typeof decayRecords)[number]
  | (typeof configurationFileRecords)[number]
  | (typeof profileLevelRecords)[number]
  | (typeof notificationRecords)[number]
  | (typeof shareRecords)[number]
  | (typeof ruleRecords)[number]
  | (typeof whatIfRecords)[number]
  | (typeof challengerRecords)[number]
  | (typeof suggestionRecords)[number]
  | (typeof rescoringRecords)[number]
  | (typeof scoringJobRecords)[number]
  | (typeof siteAnalysisRecords)[number];

/**
 * The records that services write to a topic, without RebuildReadModel, InputsRead, PositionsAccepted and RecordErased, which
 * event-log itself handles.
 */
export type DeclaredOn<Topic extends TopicName> = Extract<ServiceRecord, { topic: Topic }>;

export function recordsOf(topic: TopicName): readonly RecordDeclaration[] {
  return recordDeclarations.filter((record) => record.topic === topic);
}
