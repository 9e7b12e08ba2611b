// Gathers the requests of one kind that come within a turn of the event loop into one call; each caller gets the outcome of its
// own request.

/** In place of a result: the request is to be sent alone, for an error of its own. */
export const alone = Symbol('send this request alone');

export interface GatheringOptions<Request, Result> {
  /** Documents or ids in a request. */
  sizeOf: (request: Request) => number;
  /** What the request is about, where requests about the same must not be in one call. */
  keysOf?: (request: Request) => Iterable<string>;
  /** Sum of the sizes in one call; a request that is larger goes alone. */
  maximumSize: number;
  /** @throws when the request must not be sent any more; it is then left out, and its caller gets the error */
  permit?: (request: Request) => void;
  /**
   * @param check to be called whenever the call is about to leave the process: throws when one of the requests must not be sent
   *   any more; nothing may leave then
   * @returns the results, in the order of the requests; `alone` only where there are several
   */
  send: (requests: readonly Request[], check: () => void) => Promise<readonly (Result | typeof alone)[]>;
  /** Whether the error may be of one request alone: each is then sent by itself. Any other goes to all callers. */
  mayBeOfOne: (error: unknown) => boolean;
  /** Runs work after what comes in this turn. */
  afterTurn?: (work: () => void) => void;
}

interface Entry<Request, Result> {
  readonly request: Request;
  readonly size: number;
  readonly keys: ReadonlySet<string>;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** @returns sends a request, together with others */
export function createGathering<Request, Result>(
  options: GatheringOptions<Request, Result>,
): (request: Request) => Promise<Result> {
  const { afterTurn = setImmediate, maximumSize } = options;
  let waiting: Entry<Request, Result>[] = [];

  function sendWaiting(): void {
    let left = waiting;
    waiting = [];
    while (left.length > 0) {
      const { call, others } = nextCall(left, maximumSize);
      left = others;
      void sendCall(options, call);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const size = options.sizeOf(request);
      const keys = new Set(options.keysOf?.(request));
      if (waiting.length === 0) afterTurn(sendWaiting);
      waiting.push({ request, size, keys, resolve, reject });
    });
}

/** The first that waits, and all that fit in with it. */
function nextCall<Waiting extends Pick<Entry<unknown, unknown>, 'size' | 'keys'>>(
  waiting: readonly Waiting[],
  maximumSize: number,
): { call: Waiting[]; others: Waiting[] } {
  const [first, ...further] = waiting;
  if (!first) return { call: [], others: [] };
  const call = [first];
  const others: Waiting[] = [];
  let size = first.size;
  const keys = new Set(first.keys);
  for (const entry of further) {
    if (size + entry.size > maximumSize || sharesOne(entry.keys, keys)) {
      others.push(entry);
      continue;
    }
    call.push(entry);
    size += entry.size;
    for (const key of entry.keys) keys.add(key);
  }
  return { call, others };
}

function sharesOne(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const key of some) if (others.has(key)) return true;
  return false;
}

/** Settles every entry; never rejects. */
async function sendCall<Request, Result>(
  options: GatheringOptions<Request, Result>,
  entries: readonly Entry<Request, Result>[],
): Promise<void> {
  const { refusals, check } = permissions(options, entries);
  const isRefused = (entry: Entry<Request, Result>) => refusals.has(entry);
  let again: readonly Entry<Request, Result>[] = [];
  try {
    check();
    const results = await options.send(
      entries.map(({ request }) => request),
      check,
    );
    entries.forEach((entry, index) => {
      const result = results[index];
      if (result === alone) again = [...again, entry];
      else entry.resolve(result as Result);
    });
  } catch (error) {
    if (refusals.size > 0) {
      // The others' part of the call has not been sent, or may be sent twice.
      for (const [entry, refusal] of refusals) entry.reject(refusal);
      const others = entries.filter((entry) => !isRefused(entry));
      if (others.length > 0) await sendCall(options, others);
      return;
    }
    if (entries.length === 1 || !options.mayBeOfOne(error)) {
      for (const entry of entries) entry.reject(error);
      return;
    }
    again = entries;
  }
  // At a time, as they would have been without the others: where each fails only after a while, nobody waits for all.
  await Promise.all(again.map((entry) => sendCall(options, [entry])));
}

/** Which of the entries must not be sent any more is noted at each check. */
function permissions<Request, Result>(
  { permit }: GatheringOptions<Request, Result>,
  entries: readonly Entry<Request, Result>[],
): { refusals: ReadonlyMap<Entry<Request, Result>, unknown>; check: () => void } {
  const refusals = new Map<Entry<Request, Result>, unknown>();
  const check = () => {
    for (const entry of entries)
      try {
        permit?.(entry.request);
      } catch (error) {
        refusals.set(entry, error);
      }
    const [refusal] = refusals.values();
    if (refusals.size > 0) throw refusal;
  };
  return { refusals, check };
}
