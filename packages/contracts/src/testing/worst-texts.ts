// Texts that make a pattern or a search backtrack from each place, and a measure of the processor time that they cost.

/** The worst texts of one length for patterns of numbers, names, addresses and times. */
export function worstTexts(length: number): Record<string, string> {
  const short = length - 1;
  return {
    'digits, then a letter': `${'1'.repeat(short)}x`,
    'blanks, then a control character': `${' '.repeat(short)}\u0001`,
    'blanks between letters': `x${' '.repeat(length - 2)}x`,
    'one letter repeated': 'a'.repeat(length),
    'letters, then a control character': `${'a'.repeat(short)}\u0001`,
    'letters, then an at sign': `${'a'.repeat(short)}@`,
    'two letters in turn': 'ab'.repeat(length / 2),
    'points and digits in turn': '1.'.repeat(length / 2),
    'commas and addresses in turn': 'a@b,'.repeat(length / 4),
    'a time, then digits': `2026-01-31T09:30:00.${'0'.repeat(Math.max(0, length - 20))}`,
  };
}

/**
 * The limit for 100 KB, in milliseconds of processor time. A linear reading takes some tens of milliseconds even on a busy
 * machine and a quadratic one takes seconds, so the limit tells the two apart and measures no speed.
 */
export const longestLinearMs = 500;

/**
 * Milliseconds of processor time, the minimum of at most ten runs: other processes make a run longer, never shorter.
 * A run below the limit of a linear reading ends the measurement, and so does a run of twenty times the limit.
 */
export function processorTimeOf(run: () => void): number {
  let least = Infinity;
  for (let attempt = 0; attempt < 10 && least > longestLinearMs; attempt += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
    if (least > 20 * longestLinearMs) break;
  }
  return least;
}
