// A thread that performs tasks of scoring's jobs, one after another: see replay-threads.ts.
import { setPriority } from 'node:os';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { eventLogOf, isRetriable } from '@lead-scoring/event-log';
import { commonConfiguration, createLogger, loadConfiguration } from '@lead-scoring/service';
import { readBusyShare, restAfter } from './live-share.js';
import { replayTasks, type TaskName } from './replay-tasks.js';
import { lowPriority, type TaskAnswer, type TaskMessage } from './replay-threads.js';

// On Linux the priority is that of this thread alone; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(lowPriority);

const configuration = loadConfiguration(commonConfiguration);
const logger = createLogger({ name: 'scoring', level: configuration.LOG_LEVEL });
const busyShare = workerData as SharedArrayBuffer;
let workingSince = performance.now();
/** While live events come, a task leaves most of the processor to them, and to the other processes that they go through. */
async function giveWay(): Promise<void> {
  const restMs = restAfter(performance.now() - workingSince, readBusyShare(busyShare));
  await (restMs > 0 ? setTimeout(restMs) : setImmediate());
  workingSince = performance.now();
}
const log = eventLogOf(configuration, { service: 'scoring', logger, giveWay });

// Nothing ends a task but the end of its thread.
const signal = new AbortController().signal;

async function answerTo<Name extends TaskName>({ name, input }: TaskMessage<Name>): Promise<TaskAnswer> {
  workingSince = performance.now();
  try {
    await log.prepareSchemas();
    return { outcome: 'done', result: await replayTasks[name](input, log, signal) };
  } catch (error) {
    return { outcome: 'failed', error, isRetriable: isRetriable(error) };
  }
}

parentPort?.on('message', (message: TaskMessage) => {
  // An answer that cannot be copied ends the thread with its error, which the task then has.
  void answerTo(message).then((answer) => parentPort?.postMessage(answer));
});
