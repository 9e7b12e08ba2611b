// Values that recur from event to event, computed once: few type names and OUs are under way at a time.
import { eventTypeKey } from '@lead-scoring/contracts';
import { uuidToBinary, type Binary } from '@lead-scoring/read-model';

export interface RecurringValues {
  typeKeyOf(eventType: string): string;
  binaryOf(uuid: string): Binary;
}

const maximumRemembered = 5_000;

export function createRecurringValues(): RecurringValues {
  return { typeKeyOf: remembering(eventTypeKey), binaryOf: remembering(uuidToBinary) };
}

function remembering<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= maximumRemembered) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
