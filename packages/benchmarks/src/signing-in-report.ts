// The report's section (n), on what it costs to know a caller.
import type { SigningInResult } from './signing-in.js';
import { medianOf, ratio, ratioText, table, verdict, whole } from './tables.js';

const goals = { cost: 1.1 };

export function signingInSection({ callers }: SigningInResult): string[] {
  const [personal, signed] = callers;
  if (!personal || !signed) return [];
  const costOf = (rounds: typeof personal.rounds) =>
    ratio(personal.rounds, rounds, (round) => round.cpuPerRequestUs);
  const cost = costOf(signed.rounds).median;
  return [
    '## (n) Signing in',
    '',
    'The same request, which the gateway answers itself, by 16 callers without pause, in turns. The gateway knows the key of the issuer.',
    '',
    ...table(
      ['caller', 'requests/s', 'processor time a request', 'ratio of it'],
      callers.map(({ name, rounds }) => [
        name,
        whole(medianOf(rounds, (round) => round.requestsPerSecond)),
        `${medianOf(rounds, (round) => round.cpuPerRequestUs).toFixed(1)} µs`,
        ratioText(costOf(rounds)),
      ]),
    ),
    '',
    `Goal: a JSON Web Token costs the gateway at most ${goals.cost} times as much as a personal token: ${verdict(cost <= goals.cost)} (${cost.toFixed(2)}).`,
    '',
  ];
}
