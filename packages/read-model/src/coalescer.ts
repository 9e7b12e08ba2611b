// Coalesces requests of one kind: all that arrive within one iteration of the event loop form one call, and each caller
// gets the outcome of its own request.

/** Returned instead of a result: the request must be sent alone to get its own error. */
export const alone = Symbol('send this request alone');

export interface CoalescerOptions<Request, Result> {
  /** The number of documents or ids in a request. */
  sizeOf: (request: Request) => number;
  /** The keys of a request, when requests with a common key must not share a call. */
  keysOf?: (request: Request) => Iterable<string>;
  /** Maximum sum of the sizes in one call; a larger request is sent alone. */
  maximumSize: number;
  /** @throws when the request must no longer be sent; it is left out, and its caller gets the error */
  permit?: (request: Request) => void;
  /**
   * @param check to be called right before the call leaves the process: throws when one of the requests must no longer
   * be sent; then nothing may be sent
   * @returns the results in the order of the requests; `alone` only when there are several
   */
  send: (requests: readonly Request[], check: () => void) => Promise<readonly (Result | typeof alone)[]>;
  /** Whether the error may be caused by one request: each is then sent alone. Any other error goes to all callers. */
  mayBeCausedByOne: (error: unknown) => boolean;
  /** Runs the function after the current iteration of the event loop. Default: setImmediate. */
  defer?: (work: () => void) => void;
}

interface Entry<Request, Result> {
  readonly request: Request;
  readonly size: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** @returns a function that sends a request together with others */
export function createCoalescer<Request, Result>(
  options: CoalescerOptions<Request, Result>,
): (request: Request) => Promise<Result> {
  const { defer = setImmediate } = options;
  let waiting: Entry<Request, Result>[] = [];

  function sendWaiting(): void {
    let left = waiting;
    waiting = [];
    while (left.length > 0) {
      const { call, others } = nextCall(options, left);
      left = others;
      void sendCall(options, call);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) defer(sendWaiting);
      waiting.push({ request, size: options.sizeOf(request), resolve, reject });
    });
}

/** The first waiting request, and all others that fit in the same call. */
function nextCall<Request, Result>(
  { maximumSize, keysOf }: Pick<CoalescerOptions<Request, Result>, 'maximumSize' | 'keysOf'>,
  waiting: readonly Entry<Request, Result>[],
): { call: Entry<Request, Result>[]; others: Entry<Request, Result>[] } {
  const [first, ...further] = waiting;
  if (!first) return { call: [], others: [] };
  const call = [first];
  const others: Entry<Request, Result>[] = [];
  let size = first.size;
  // Made when another request would fit: most requests to write are large, and many are alone.
  let keys: Set<string> | undefined;
  for (const entry of further) {
    if (size + entry.size > maximumSize) {
      others.push(entry);
      continue;
    }
    keys ??= new Set(keysOf?.(first.request));
    const own = [...(keysOf?.(entry.request) ?? [])];
    if (haveCommonKey(own, keys)) {
      others.push(entry);
      continue;
    }
    call.push(entry);
    size += entry.size;
    for (const key of own) keys.add(key);
  }
  return { call, others };
}

function haveCommonKey(some: readonly string[], others: ReadonlySet<string>): boolean {
  return some.some((key) => others.has(key));
}

/** Sends one call and settles every entry; never rejects. */
async function sendCall<Request, Result>(
  options: CoalescerOptions<Request, Result>,
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
      // The call was not sent, or may be repeated, for the other entries.
      for (const [entry, refusal] of refusals) entry.reject(refusal);
      const others = entries.filter((entry) => !isRefused(entry));
      if (others.length > 0) await sendCall(options, others);
      return;
    }
    if (entries.length === 1 || !options.mayBeCausedByOne(error)) {
      for (const entry of entries) entry.reject(error);
      return;
    }
    again = entries;
  }
  // Concurrently, as without coalescing: when each fails after a delay, the delays do not add up.
  await Promise.all(again.map((entry) => sendCall(options, [entry])));
}

/** Checks the permission of each entry and collects the refusals. */
function permissions<Request, Result>(
  { permit }: CoalescerOptions<Request, Result>,
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
