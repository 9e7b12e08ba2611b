// Bounds the exports that run at the same time: each takes a connection of the gateway for as long as its reader takes.
import { problem } from '@lead-scoring/service';

export interface ExportLimits {
  perUnit: number;
  /** In this process. Fewer than the connections that a gateway has to this service. */
  inAll: number;
}

export class RunningExports {
  /** By OU; without those that have none. */
  readonly #counts = new Map<string, number>();
  #inAll = 0;

  constructor(private readonly limits: ExportLimits) {}

  /** The parts, counted from the first that is asked for until the last, or until nobody wants more. */
  async *counted<Part>(ouId: string, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    this.#begin(ouId);
    try {
      yield* parts;
    } finally {
      this.#end(ouId);
    }
  }

  /** @throws ProblemError 429 `too_many_in_flight` */
  #begin(ouId: string): void {
    const running = this.#counts.get(ouId) ?? 0;
    const { perUnit, inAll } = this.limits;
    if (running >= perUnit || this.#inAll >= inAll)
      throw problem(
        'too_many_in_flight',
        running >= perUnit
          ? `This organizational unit has ${String(perUnit)} exports running already. Wait for the end of one.`
          : 'As many exports run as the service serves at a time. Try again when one has ended.',
        { headers: { 'Retry-After': '10' } },
      );
    this.#counts.set(ouId, running + 1);
    this.#inAll += 1;
  }

  #end(ouId: string): void {
    const left = (this.#counts.get(ouId) ?? 0) - 1;
    if (left > 0) this.#counts.set(ouId, left);
    else this.#counts.delete(ouId);
    this.#inAll -= 1;
  }
}
