import { describe, expect, test } from '@jest/globals';
import { WriteBehind, type TakenChanges, type WriteBuffer } from './write-behind.js';

/** Notes what is written; a write ends when the test says so. */
class Buffer implements WriteBuffer {
  #changes: string[] = [];
  readonly #ends: ((error?: Error) => void)[] = [];
  haste: AbortSignal | null = null;

  constructor(
    private readonly name: string,
    private readonly log: string[],
    private readonly endsByItself = true,
  ) {}

  put(change: string): void {
    this.#changes.push(change);
  }

  get size(): number {
    return this.#changes.length;
  }

  take(): TakenChanges {
    const taken = this.#changes;
    this.#changes = [];
    return {
      write: async (haste) => {
        this.haste = haste;
        this.log.push(`${this.name}: ${taken.join(' ')}`);
        if (!this.endsByItself)
          await new Promise<void>((resolve, reject) => {
            this.#ends.push((error) => {
              if (error) reject(error);
              else resolve();
            });
          });
      },
      stored: () => this.log.push(`${this.name} stored`),
    };
  }

  forget(): void {
    this.#changes = [];
  }

  end(error?: Error): void {
    this.#ends.shift()?.(error);
  }
}

/** Lets everything run that waits for nothing. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const never = () => new AbortController().signal;

describe('write-behind', () => {
  test('a cycle writes one stage after the other, and all that was put in by its beginning', async () => {
    const log: string[] = [];
    const [entries, leads] = [new Buffer('entries', log), new Buffer('leads', log)];
    const behind = new WriteBehind([[entries], leads]);
    leads.put('a');
    entries.put('1');
    const written = behind.write();
    leads.put('b');
    await written;
    expect(log).toEqual(['entries: 1', 'leads: a b', 'entries stored', 'leads stored']);
  });

  test('what is put in during a cycle belongs to the next, which begins when the first has ended, and is asked for once', async () => {
    const log: string[] = [];
    const leads = new Buffer('leads', log, false);
    const behind = new WriteBehind([leads]);
    leads.put('a');
    const first = behind.write();
    await settled();
    leads.put('b');
    const second = behind.write();
    expect(behind.write()).toBe(second);
    leads.put('c');
    await settled();
    expect(log).toEqual(['leads: a']);
    leads.end();
    await first;
    await settled();
    expect(log).toEqual(['leads: a', 'leads stored', 'leads: b c']);
    leads.end();
    await second;
  });

  test('after a failure nothing is written, and everybody who waits is told, until everything is forgotten', async () => {
    const log: string[] = [];
    const leads = new Buffer('leads', log, false);
    const behind = new WriteBehind([leads]);
    leads.put('a');
    const failing = behind.write();
    await settled();
    leads.end(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    leads.put('b');
    await expect(behind.write()).rejects.toThrow('away');
    await expect(behind.written()).rejects.toThrow('away');
    await expect(behind.room()).rejects.toThrow('away');
    expect(log).toEqual(['leads: a']);
    behind.forget();
    await behind.room();
    leads.put('a');
    const written = behind.write();
    await settled();
    leads.end();
    await written;
    expect(log).toEqual(['leads: a', 'leads: a', 'leads stored']);
  });

  test('a cycle that fails ends when none of its writes is running any more, and begins no later stage', async () => {
    const log: string[] = [];
    const [entries, aliases] = [new Buffer('entries', log, false), new Buffer('aliases', log, false)];
    const behind = new WriteBehind([[entries, aliases], new Buffer('leads', log)]);
    let hasEnded = false;
    const failing = behind.write().finally(() => (hasEnded = true));
    failing.catch(() => undefined);
    await settled();
    entries.end(new Error('away'));
    await settled();
    expect(hasEnded).toBe(false);
    aliases.end();
    await expect(failing).rejects.toThrow('away');
    expect(log).toEqual(['entries: ', 'aliases: ']);
  });

  test('a cycle that was asked for before everything was forgotten does not begin', async () => {
    const log: string[] = [];
    const leads = new Buffer('leads', log, false);
    const behind = new WriteBehind([leads]);
    leads.put('a');
    void behind.write();
    await settled();
    void behind.write();
    behind.forget();
    leads.put('b');
    leads.end();
    await settled();
    expect(log).toEqual(['leads: a', 'leads stored']);
  });

  test('a cycle is hurried as soon as somebody waits for it', async () => {
    const log: string[] = [];
    const leads = new Buffer('leads', log, false);
    const behind = new WriteBehind([leads]);
    const awaited = new AbortController();
    const written = behind.write(awaited.signal);
    await settled();
    expect(leads.haste?.aborted).toBe(false);
    awaited.abort();
    expect(leads.haste?.aborted).toBe(true);
    leads.end();
    await written;
    void behind.write(never());
    await settled();
    expect(leads.haste?.aborted).toBe(false);
    void behind.written();
    expect(leads.haste?.aborted).toBe(true);
    leads.end();
  });

  test('with too much in memory, room comes with the end of the running cycle, and the next one begins', async () => {
    const log: string[] = [];
    const leads = new Buffer('leads', log, false);
    const behind = new WriteBehind([leads], { maximumUnwritten: 1 });
    leads.put('a');
    await behind.room();
    leads.put('b');
    await behind.room();
    await settled();
    expect(log).toEqual(['leads: a b']);
    leads.put('c');
    leads.put('d');
    let hasRoom = false;
    const room = behind.room().then(() => (hasRoom = true));
    await settled();
    expect(hasRoom).toBe(false);
    leads.end();
    await room;
    await settled();
    expect(log).toEqual(['leads: a b', 'leads stored', 'leads: c d']);
  });

  test('a write-behind within another one is written before the later stages of that one', async () => {
    const log: string[] = [];
    const [firings, states] = [new Buffer('firings', log, false), new Buffer('states', log)];
    const inner = new WriteBehind([firings]);
    const outer = new WriteBehind([inner, states]);
    firings.put('a');
    void inner.write();
    await settled();
    firings.put('b');
    states.put('a b');
    const written = outer.write();
    await settled();
    expect(log).toEqual(['firings: a']);
    firings.end();
    await settled();
    expect(log).toEqual(['firings: a', 'firings stored', 'firings: b']);
    firings.end();
    await written;
    expect(log.slice(3)).toEqual(['firings stored', 'states: a b', 'states stored']);
  });
});
