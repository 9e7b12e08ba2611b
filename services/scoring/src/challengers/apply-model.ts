// Decides on making the draft of a challenger live: pure. As with a what-if, and the challenger ends with it.
import { records, type JsonObject } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { applyConfiguration } from '../configuration-file/decide.js';
import { documentOf } from '../configuration-file/document-model.js';
import type { ConfigurationDecision } from '../configuration/messages.js';
import { applyDraft } from '../what-if/apply-model.js';
import { challengerNotFound, endedOf, runningOf, type Challengers } from './decide.js';

type ApplicationDecision = ConfigurationDecision & { readonly commands?: readonly OutgoingRecord[] };

export function applyChallenger(
  command: records.ApplyChallenger,
  challengers: Challengers,
  live: ScoringConfiguration,
): ApplicationDecision {
  const { challenger_id: id, dry_run, requested_at: at } = command;
  const challenger = runningOf(challengers, id);
  if (!challenger) {
    const version = endedOf(challengers, id)?.version;
    if (version === undefined) return challengerNotFound;
    return { outcome: 'done', events: [], result: { id, dry_run, version, ...nothing } };
  }
  const { configuration_version } = challenger;
  const words = `the challenger "${challenger.name}"`;
  const applied = applyDraft({ draft: challenger, configuration_version, id, words }, live, at);
  if (applied.outcome === 'rejected') return applied;
  const { events, configuration } = applied;
  const difference = differenceOf(command, live, configuration);
  if (difference.outcome === 'rejected') return difference;
  const answer = difference.result as JsonObject;
  if (dry_run) return { outcome: 'done', events: [], result: { ...answer, id } };
  const { version } = configuration;
  return {
    outcome: 'done',
    events,
    result: { ...answer, id, dry_run, version },
    commands: [endOf(command, version)],
  };
}

const nothing = { total: 0, sections: [], changes: [] };

/** The changes that the draft makes, as PUT /scoring/configuration says them, in the sections that a draft may change. */
function differenceOf(
  { ou_id, challenger_id: change_id, requested_at }: records.ApplyChallenger,
  live: ScoringConfiguration,
  after: ScoringConfiguration,
): ConfigurationDecision {
  const { engagement_rulesets, engagement_levels, profile_rulesets, profile_levels, decays } =
    documentOf(after);
  const configuration = {
    engagement_rulesets,
    engagement_levels,
    profile_rulesets,
    profile_levels,
    decays,
  };
  return applyConfiguration({ ou_id, change_id, configuration, dry_run: true, requested_at }, live);
}

function endOf(
  { ou_id, challenger_id, requested_at, actor }: records.ApplyChallenger,
  applied_version: number,
): OutgoingRecord {
  return outgoing(records.endChallenger, {
    key: ou_id,
    payload: { ou_id, challenger_id, applied_version, requested_at, ...(actor && { actor }) },
  });
}
