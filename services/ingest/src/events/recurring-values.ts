// Caches values that recur from event to event, because the events of a batch have few different types and OUs.
import { eventTypeKey } from '@lead-scoring/contracts';
import { uuidToBinary, type Binary } from '@lead-scoring/read-model';

export interface RecurringValues {
  typeKeyOf(eventType: string): string;
  binaryOf(uuid: string): Binary;
}

const maximumRemembered = 5_000;

export function createRecurringValues(): RecurringValues {
  return { typeKeyOf: cached(eventTypeKey), binaryOf: cached(uuidToBinary) };
}

function cached<Value>(compute: (text: string) => Value): (text: string) => Value {
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
