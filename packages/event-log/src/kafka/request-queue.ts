// Ends a loop of kafkajs 2.2.4: after its first answer every connection looks for waiting requests each millisecond, for
// ever, whether there are any or not (its issues 1556 and 1704). With a connection for each partition and topic that was
// half of the processor time of an idle service.
import { createRequire } from 'node:module';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as {
  prototype: RequestQueue;
};
// eslint-disable-next-line @typescript-eslint/unbound-method -- called with the queue that it belongs to
const { scheduleCheckPendingRequests } = prototype;

/** Looks again later only where a request waits; one that comes to wait has itself looked for. */
prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};
