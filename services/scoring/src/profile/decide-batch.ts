// Decides the profiles of a batch: pure. Each record of events, and of metadata that was set, first changes the values of its lead's profile,
// then the points that the profile gives. Values are recorded with the decision on the record, points as a decision of their own after it.
import { fieldsAfter, overridingFieldsOf, type records } from '@lead-scoring/contracts';
import {
  profileChanges,
  profileOverridesOf,
  withAliases,
  type KnownValue,
} from '@lead-scoring/scoring-domain';
import { sumOfPoints } from '../condition-rules/points-model.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { profileAdjustments, type ProfiledLead } from './decide.js';
import type { CompiledProfile } from './profile-model.js';
import { withProfilePoints, withValues, type ProfileAdjustment } from './state.js';

/** What deciding profiles needs to know. */
export interface ProfileSources {
  /** Null for an OU that has never configured profile scoring. */
  profileOf: (ouId: string) => CompiledProfile | null;
  versionOf: (ouId: string) => number;
  /** The lead before the batch; null for a lead that does not exist. */
  leadBefore: (ouId: string, leadId: string) => ProfiledLead | null;
}

/** The most adjustments of one record, some 200 KB. More are divided among consecutive records. */
const maximumAdjustments = 1_000;

const newLead: ProfiledLead = { fields: {}, aliases: [] };

/**
 * The decisions of a batch with those on profiles, each after the decision on the events that caused it.
 * @param decided the decisions on the causes, each with the source of its cause
 * @param maximum if several causes change more points of profiles, the result is null
 */
export function withProfiles(
  decided: readonly LeadEvent[],
  causes: readonly LeadCause[],
  { profileOf, versionOf, leadBefore }: ProfileSources,
  maximum = Infinity,
): LeadEvent[] | null {
  const leads = new Map<string, ProfiledLead | null>();
  const events: LeadEvent[] = [];
  let next = 0;
  let changedPoints = 0;
  for (const cause of causes) {
    const { ou_id, lead_id } = cause.payload;
    const own = decided.slice(next, endOfCause(decided, next, cause));
    next += own.length;
    const profile = profileOf(ou_id);
    if (!profile) {
      events.push(...own);
      continue;
    }
    const name = `${ou_id}/${lead_id}`;
    if (cause.type === 'LeadDeleted') {
      events.push(...own);
      leads.set(name, null);
      continue;
    }
    // Metadata was set for a lead that is not there.
    if (cause.type === 'LeadMetadataPatched' && own.length === 0) continue;
    const known = leads.get(name);
    const before = (known === undefined ? leadBefore(ou_id, lead_id) : known) ?? newLead;
    const { changes, adjustments, after } =
      cause.type === 'EventsIngested'
        ? decideProfile(cause.payload, before, profile)
        : decidePatchedProfile(cause.payload, before, profile);
    leads.set(name, after);
    changedPoints += adjustments.length;
    if (changedPoints > maximum && causes.length > 1) return null;
    events.push(...withValuesRecorded(own, changes));
    const previous = before.profile?.score ?? 0;
    events.push(...adjustedRecords(cause, previous, adjustments, versionOf(ou_id)));
  }
  return events;
}

/** The end of a cause's decisions, which follow one another; ticks of decay rules come before them. */
function endOfCause(decided: readonly LeadEvent[], from: number, { source }: LeadCause): number {
  let first = from;
  while (decided[first]?.type === 'ScoreAdjusted') first += 1;
  let end = first;
  for (let event = decided[end]; event && event.type !== 'ScoreAdjusted'; event = decided[end]) {
    if (event.payload.source?.offset !== source?.offset) break;
    end += 1;
  }
  // The ticks are those of a later cause.
  return end === first ? from : end;
}

/** The changes of the values of a profile, as they are recorded. */
type ValueChanges = Pick<records.LeadScored, 'profile' | 'profile_overrides'>;

export interface DecidedProfile {
  readonly changes: ValueChanges;
  readonly adjustments: readonly ProfileAdjustment[];
  readonly after: ProfiledLead;
}

/** What one record of events comes to for the profile of its lead. */
export function decideProfile(
  { events, received_at, fields, aliases }: records.EventsIngested,
  before: ProfiledLead,
  compiled: CompiledProfile,
): DecidedProfile {
  const { mappings } = compiled;
  const profile = profileChanges(before.profile?.values ?? [], mappings, events, received_at);
  const overrides = before.profile?.overrides ?? [];
  const mapped = overrides.filter(({ field }) => mappings.fields.has(field));
  const changes: ValueChanges = {
    ...(profile.length > 0 && { profile }),
    ...(mapped.length < overrides.length && { profile_overrides: recordedValues(mapped) }),
  };
  const named: ProfiledLead = {
    ...fieldsAfter(before, { fields }),
    aliases: withAliases(before.aliases, aliases),
    profile: withValues(before.profile, changes),
  };
  return withPoints(named, changes, compiled);
}

/** What metadata that was set for a lead comes to for its profile. */
function decidePatchedProfile(
  { metadata, patched_at }: records.LeadMetadataPatched,
  before: ProfiledLead,
  compiled: CompiledProfile,
): DecidedProfile {
  const changes = {
    profile_overrides: recordedValues(profileOverridesOf(compiled.mappings, metadata, patched_at)),
  };
  const named: ProfiledLead = {
    ...fieldsAfter(before, { overrides: overridingFieldsOf(metadata, patched_at) }),
    aliases: before.aliases,
    profile: withValues(before.profile, changes),
  };
  return withPoints(named, changes, compiled);
}

function recordedValues(values: readonly KnownValue[]): ValueChanges['profile_overrides'] & {} {
  return values.map(({ field, value, at }) => ({ field, value, at }));
}

/** Compares the rules with the profile as it has become. */
function withPoints(named: ProfiledLead, changes: ValueChanges, compiled: CompiledProfile): DecidedProfile {
  const adjustments = profileAdjustments(named, compiled);
  if (adjustments.length === 0) return { changes, adjustments, after: named };
  const score = (named.profile?.score ?? 0) + sumOfPoints(adjustments);
  return {
    changes,
    adjustments,
    after: { ...named, profile: withProfilePoints(named.profile, { score, adjustments }) },
  };
}

/** Records the changed values with the last decision on the cause. */
function withValuesRecorded(own: readonly LeadEvent[], changes: ValueChanges): readonly LeadEvent[] {
  const last = own.at(-1);
  if (Object.keys(changes).length === 0 || last?.type !== 'LeadScored') return own;
  return [...own.slice(0, -1), { type: 'LeadScored', payload: { ...last.payload, ...changes } }];
}

function adjustedRecords(
  cause: Exclude<LeadCause, { type: 'LeadDeleted' }>,
  before: number,
  adjustments: readonly ProfileAdjustment[],
  configuration_version: number,
): LeadEvent[] {
  const { ou_id, lead_id, fire_triggers } = cause.payload;
  const decided_at = cause.type === 'EventsIngested' ? cause.payload.received_at : cause.payload.patched_at;
  const events: LeadEvent[] = [];
  let previous_score = before;
  for (let from = 0; from < adjustments.length; from += maximumAdjustments) {
    const part = adjustments.slice(from, from + maximumAdjustments);
    const score = previous_score + sumOfPoints(part);
    events.push({
      type: 'ScoreAdjusted',
      payload: {
        ou_id,
        lead_id,
        score_type: 'profile',
        previous_score,
        score,
        configuration_version,
        adjustments: part,
        decided_at,
        fire_triggers,
      },
    });
    previous_score = score;
  }
  return events;
}
