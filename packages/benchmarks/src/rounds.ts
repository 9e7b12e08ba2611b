// Contenders take turns, and each round begins with another one, so that changes of the machine's speed affect all of them.

export interface Progress<Round> {
  say: (message: string) => void;
  describe: (round: Round) => string;
}

/** Measures every contender once per round. The results have the order of the contenders. */
export async function interleaved<Contender extends { name: string }, Round>(
  contenders: readonly Contender[],
  rounds: number,
  measure: (contender: Contender) => Promise<Round>,
  { say, describe }: Progress<Round>,
): Promise<{ name: string; rounds: Round[] }[]> {
  const results = contenders.map((contender) => ({ contender, rounds: new Array<Round>() }));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % results.length;
    for (const result of [...results.slice(first), ...results.slice(0, first)]) {
      const measured = await measure(result.contender);
      result.rounds.push(measured);
      say(`  round ${round + 1}, ${result.contender.name}: ${describe(measured)}`);
    }
  }
  return results.map(({ contender, rounds: measured }) => ({ name: contender.name, rounds: measured }));
}
