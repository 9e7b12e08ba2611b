// A thread that performs tasks of scoring's jobs, one after another: see replay-threads.ts.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { eventLogOf, isRetriable } from '@lead-scoring/event-log';
import { commonConfiguration, createLogger, loadConfiguration } from '@lead-scoring/service';
import { replayTasks, type TaskName } from './replay-tasks.js';
import { lowPriority, type TaskAnswer, type TaskMessage } from './replay-threads.js';

// On Linux the priority is that of this thread alone; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(lowPriority);

const configuration = loadConfiguration(commonConfiguration);
const logger = createLogger({ name: 'scoring', level: configuration.LOG_LEVEL });
const log = eventLogOf(configuration, { service: 'scoring', logger });

// Nothing ends a task but the end of its thread.
const signal = new AbortController().signal;

async function answerTo<Name extends TaskName>({ name, input }: TaskMessage<Name>): Promise<TaskAnswer> {
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
