// What is said about a service's process that has ended: why it refuses to start, or that it is started again.
import { crashLoopAttempts, type ProcessRestart } from '@lead-scoring/platform';

/** A process of a service has ended because of a setting: no restart helps until the setting is changed. */
export class ServiceRefusesToStart extends Error {
  override readonly name = 'ServiceRefusesToStart';

  constructor(processName: string, reasons: readonly string[], logFile: string) {
    super(`${processName} cannot start: ${reasons.join('; ') || `the last lines of ${logFile} say why`}.`);
  }
}

/** The first end of a service's process because of a setting. */
export class Refusal {
  /** Rejects with ServiceRefusesToStart when it happens; never resolves. */
  readonly happened: Promise<never>;
  hasHappened = false;
  #reject: (reason: ServiceRefusesToStart) => void = () => undefined;

  constructor() {
    this.happened = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    // Without a caller who waits for it, it is no unhandled rejection.
    this.happened.catch(() => undefined);
  }

  report(processName: string, lastLogLines: readonly string[], logFile: string): void {
    this.hasHappened = true;
    this.#reject(new ServiceRefusesToStart(processName, refusalIn(lastLogLines), logFile));
  }
}

/** The reasons that a service's process wrote last into its log: every wrong setting, or the error of its start. */
export function refusalIn(logLines: readonly string[]): string[] {
  const fatal = logLines.flatMap((line) => {
    const entry = entryOf(line);
    return entry?.level === 'fatal' ? [entry] : [];
  });
  const last = fatal.at(-1);
  if (last === undefined) return [];
  // The lines before may be those of an earlier start; only wrong settings take a line each.
  const beforeSettings = fatal.findLastIndex(({ variable }) => variable === undefined);
  const written = last.variable === undefined ? [last] : fatal.slice(beforeSettings + 1);
  const reasons = written.flatMap(({ variable, problem = 'is wrong', err }) =>
    variable === undefined ? (err?.message?.split('\n')[0] ?? []) : `${variable} ${problem}`,
  );
  return [...new Set(reasons)].map((reason) => reason.replace(/\.$/, ''));
}

interface LogEntry {
  level?: string;
  variable?: string;
  problem?: string;
  err?: { message?: string };
}

/** Null for a line that is not of the service's logger, such as one of Node.js. */
function entryOf(line: string): LogEntry | null {
  try {
    return JSON.parse(line) as LogEntry | null;
  } catch {
    return null;
  }
}

/** One line; when a crash loop has begun, with the last lines of the log. */
export function restartSentence(
  { name, exit, attempt, delayMs, crashLooping, lastLogLines }: ProcessRestart,
  logFile: string,
): string {
  const end = exit.signal ?? `code ${String(exit.code)}`;
  const sentence = `${name} ended (${end}) and is started again in ${String(delayMs)} ms`;
  if (!crashLooping) return sentence;
  const count = `${sentence}; that was end ${String(attempt)} in a row`;
  return attempt === crashLoopAttempts
    ? `${count}. The last lines of ${logFile}:\n${lastLogLines.join('\n')}`
    : `${count}, and ${logFile} says why`;
}
