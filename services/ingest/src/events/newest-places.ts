// The newest of many places, in bounded memory. Pure.

/** Keeps the newest places of those that are added. */
export class NewestPlaces {
  #places: Buffer[] = [];

  /** @param most how many are kept; up to as many more are in memory between two calls */
  constructor(private readonly most: number) {}

  /** The number of places that are kept now. */
  get count(): number {
    return Math.min(this.#places.length, this.most);
  }

  add(places: readonly Buffer[]): void {
    for (const place of places) this.#places.push(place);
    if (this.#places.length > 2 * this.most) this.#drop();
  }

  /** The kept places, newest first. */
  sorted(): readonly Buffer[] {
    this.#drop();
    return this.#places;
  }

  #drop(): void {
    this.#places = this.#places.sort((left, right) => Buffer.compare(right, left)).slice(0, this.most);
  }
}
