// What the events of notification say of channels and triggers. Secrets are sealed: an entry shows that one was set anew, by a mark.
import { createHash } from 'node:crypto';
import {
  shownPartsOf,
  shownUrl,
  type JsonObject,
  type JsonValue,
  type records,
} from '@lead-scoring/contracts';
import { cancelledJob, startedJob } from './job-readings.js';
import { gone, partial, whole, type Reading, type Readings, type SubjectChange } from './subject-change.js';

interface Sealed {
  sealed: string;
  last_four: string;
  origin?: string;
}

const isSealed = (value: unknown): value is Sealed =>
  typeof value === 'object' && value !== null && 'sealed' in value;

/**
 * A secret as entries show it: its last four characters and a mark of its sealed form. The mark changes each time that the secret is
 * set, even when the last four characters stay the same.
 */
function shownSecret({ sealed, last_four, origin }: Sealed): string {
  const end = origin === undefined ? `…${last_four}` : shownUrl({ origin, last_four });
  return `${end} (set as ${createHash('sha256').update(sealed).digest('hex').slice(0, 8)})`;
}

/** An address from before addresses were sealed is shown by its host and its end, too. */
function shownPlainUrl(url: string): string {
  const parts = shownPartsOf(url);
  const mark = createHash('sha256').update(url).digest('hex').slice(0, 8);
  return `${parts ? shownUrl(parts) : '…'} (set as ${mark})`;
}

function shownDestination({ type, config }: records.ChannelDestination): JsonObject {
  const fields = Object.entries(config as Record<string, JsonValue | Sealed | undefined>).flatMap(
    ([name, value]): [string, JsonValue][] => {
      if (value === undefined) return [];
      if (isSealed(value)) return [[name, shownSecret(value)]];
      return [[name, name === 'url' && typeof value === 'string' ? shownPlainUrl(value) : value]];
    },
  );
  return { type, ...Object.fromEntries(fields) };
}

/** The channel is gone, and the triggers that had it have it no more. */
function deletedChannel({ channel_id, detached_triggers }: records.ChannelDeleted): SubjectChange[] {
  const without = (ids: JsonValue | undefined) =>
    Array.isArray(ids) ? ids.filter((id) => id !== channel_id) : [];
  return [
    { id: channel_id, after: () => null },
    ...detached_triggers.map(({ trigger_id }): SubjectChange => ({
      id: trigger_id,
      action: 'changed',
      after: (before) => before && { ...before, channel_ids: without(before.channel_ids) },
    })),
  ];
}

const definition: Reading<records.TriggerCreated> = whole(
  'trigger_id',
  (payload) => ({ ...payload.definition }) as unknown as JsonObject,
);

export const notificationReadings: Readings<'notification'> = {
  ChannelCreated: whole('channel_id', ({ name, destination, signing_key_id }) => ({
    name,
    ...shownDestination(destination),
    signing_key_id,
  })),
  ChannelReplaced: whole('channel_id', ({ name, destination }, before) => ({
    name,
    ...shownDestination(destination),
    signing_key_id: before?.signing_key_id ?? null,
  })),
  ChannelSecretRotated: partial('channel_id', ({ signing_key_id }) => ({ signing_key_id })),
  ChannelResealed: ({ channel_id: id, destination }) => [
    { id, after: (before) => before && { ...before, ...shownDestination(destination) } },
  ],
  ChannelDeleted: deletedChannel,
  // A replacement resumes as well, and has an entry of its own.
  ChannelResumed: ({ channel_id: id, cause }) =>
    cause === 'replacement' ? [] : [{ id, before: { paused: true }, after: () => ({ paused: false }) }],
  TriggerCreated: definition,
  TriggerReplaced: definition,
  TriggerDeleted: gone('trigger_id'),
  JobStarted: startedJob(({ kind, channel_id, since, undelivered_only }: records.NotificationWork) => ({
    work: kind,
    channel_id,
    since,
    undelivered_only,
  })),
  JobCancelled: cancelledJob,
};
