// The limit of linked aliases per OU: each partition allows an equal share of it, and counts its own.

/** The share of one partition, rounded down, so that all partitions together never exceed the limit. */
export function aliasShare(limitPerOu: number, partitions: number): number {
  return Math.floor(limitPerOu / partitions);
}

/** The aliases that each OU has left in this partition while a batch is decided. */
export class AliasAllowance {
  private readonly counts = new Map<string, number>();

  /**
   * @param counted the number of claimed aliases in this partition by OU
   * @param share the most aliases of an OU in this partition
   */
  constructor(
    private readonly counted: { get(ouId: string): number | undefined },
    private readonly share: number,
  ) {}

  /** Takes one alias from those that the OU has left; false when none is left. */
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
