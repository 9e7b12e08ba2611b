// The load generator's process: takes pieces of work from its parent, one at a time, and sends back what it measured.
import type { ResultMessage, WorkMessage } from './protocol.js';
import { createPreparedPlans, perform } from './work.js';

const prepared = createPreparedPlans();
process.on('message', (message: WorkMessage) => {
  perform(message.work, prepared).then(
    (result) => answer({ number: message.number, result }),
    (error: unknown) =>
      answer({
        number: message.number,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
process.on('disconnect', () => process.exit());

function answer(message: ResultMessage): void {
  process.send?.(message);
}
