// How many aliases an OU may have linked: each partition of ingest allows an equal share of it, by its own count.

/** What one partition allows of an OU's limit. Rounded down, so that all partitions together never pass the limit. */
export function aliasShare(limitPerOu: number, partitions: number): number {
  return Math.floor(limitPerOu / partitions);
}

/** What the OUs have left in this partition while a batch is decided. */
export class AliasAllowance {
  private readonly counts = new Map<string, number>();

  /**
   * @param counted by OU, the aliases that its leads have claimed here
   * @param share of each OU
   */
  constructor(
    private readonly counted: { get(ouId: string): number | undefined },
    private readonly share: number,
  ) {}

  /** Takes one of what the OU has left; false when it has none left. */
  take(ouId: string): boolean {
    const count = this.countOf(ouId);
    if (count >= this.share) return false;
    this.counts.set(ouId, count + 1);
    return true;
  }

  giveBack(ouId: string, count: number): void {
    this.counts.set(ouId, Math.max(0, this.countOf(ouId) - count));
  }

  private countOf(ouId: string): number {
    return this.counts.get(ouId) ?? this.counted.get(ouId) ?? 0;
  }
}
