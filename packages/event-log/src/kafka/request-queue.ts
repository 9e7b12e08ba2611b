// Stops a polling loop of kafkajs 2.2.4: after its first answer every connection checks for pending requests each
// millisecond for ever, even without any (its issues 1556 and 1704). With a connection for each partition and topic
// this took half of the processor time of an idle service.
// @ts-expect-error -- kafkajs has no types of its inner modules
import KafkajsRequestQueue from 'kafkajs/src/network/requestQueue/index.js';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const { prototype } = KafkajsRequestQueue as { prototype: RequestQueue };
// oxlint-disable-next-line typescript/unbound-method -- called with the queue that it belongs to
const { scheduleCheckPendingRequests } = prototype;

/** Schedules the next check only while a request is pending; a new pending request schedules a check itself. */
prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};
