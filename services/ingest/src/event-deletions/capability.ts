// The commands of a job that deletes the events of a type, in the partition of the events: each is recorded as it comes. That a type is
// not in use is checked when the job begins.
import { policy, type CapabilityDecision } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';

export const eventDeletions = policy({
  name: 'event-deletions',
  commands: {
    MarkEventsDeleted: records.markEventsDeleted,
    ClearDeletedEvents: records.clearDeletedEvents,
  },
  events: {
    EventsOfTypeDeleted: records.eventsOfTypeDeleted,
    DeletedEventsCleared: records.deletedEventsCleared,
  },
  collections: [],
  open: () => ({ decide: (commands) => Promise.resolve(decideDeletions(commands)) }),
});

function decideDeletions(commands: readonly IncomingRecord[]): CapabilityDecision {
  return { outcome: 'decided', events: commands.map(eventOf) };
}

function eventOf(command: IncomingRecord): OutgoingRecord {
  if (isRecord(command, records.markEventsDeleted)) {
    const { requested_at: deleted_at, ...deletion } = command.payload;
    return outgoing(records.eventsOfTypeDeleted, {
      key: String(deletion.partition),
      payload: { ...deletion, deleted_at },
    });
  }
  const { requested_at: cleared_at, ...part } = command.payload as records.ClearDeletedEvents;
  return outgoing(records.deletedEventsCleared, {
    key: String(part.partition),
    payload: { ...part, cleared_at },
  });
}
