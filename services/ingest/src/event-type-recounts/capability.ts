// The commands of a job that counts event types anew, in the partition of the events: each is recorded as it comes.
import { policy, type CapabilityDecision } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';

export const eventTypeRecounts = policy({
  name: 'event-type-recounts',
  commands: { BeginRecount: records.beginRecount, SetRecounted: records.setRecounted },
  events: { RecountBegun: records.recountBegun, EventTypesRecounted: records.eventTypesRecounted },
  collections: [],
  open: () => ({ decide: (commands) => Promise.resolve(decideRecounts(commands)) }),
});

function decideRecounts(commands: readonly IncomingRecord[]): CapabilityDecision {
  return { outcome: 'decided', events: commands.map(eventOf) };
}

function eventOf(command: IncomingRecord): OutgoingRecord {
  if (isRecord(command, records.beginRecount)) {
    const { requested_at: at, ...recount } = command.payload;
    return outgoing(records.recountBegun, { key: String(recount.partition), payload: { ...recount, at } });
  }
  const { requested_at: at, ...counted } = command.payload as records.SetRecounted;
  return outgoing(records.eventTypesRecounted, {
    key: String(counted.partition),
    payload: { ...counted, at },
  });
}
