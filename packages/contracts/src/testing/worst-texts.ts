// Texts that make a pattern or a search try again from each of their places, and the processor time that they cost.

/** The texts of one length that patterns for numbers, names, addresses and times have most trouble with. */
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
 * Milliseconds of processor time, the least of at most ten runs: what else the machine does makes a run longer, never
 * shorter.
 * @param enough a run that took less is not repeated, and none is after one that took twenty times as long
 */
export function processorTimeOf(run: () => void, enough: number): number {
  let least = Infinity;
  for (let attempt = 0; attempt < 10 && least > enough; attempt += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
    if (least > 20 * enough) break;
  }
  return least;
}
