// Challengers: an effect. Commands start and end them, and the owner of the partition of their organizational unit keeps their figures up to date.
import {
  effect,
  storedAsDocuments,
  type AggregateShape,
  type PartitionScope,
} from '@lead-scoring/capability';
import { records, type JsonValue } from '@lead-scoring/contracts';
import { uuidToBinary } from '@lead-scoring/read-model';
import { loadOne } from '../configuration/queries.js';
import { endsOfLog } from '../jobs/replay-plan.js';
import { challengerAnswer } from './answers.js';
import {
  decideChallenger,
  evolveChallengers,
  noChallengers,
  runningOf,
  type ChallengerCommand,
  type ChallengerContext,
  type ChallengerEvent,
  type Challengers,
} from './decide.js';
import { challengerFigures, challengers, toChallengers, toChallengersDocument } from './documents.js';
import { ChallengerRuns, type ChallengerDependencies } from './runs.js';

interface ChallengersShape extends AggregateShape {
  state: Challengers;
  command: ChallengerCommand;
  event: ChallengerEvent;
  context: ChallengerContext;
}

export function challengerEffect(dependencies: ChallengerDependencies) {
  const inTurn = oneAfterTheOther();
  const stored = storedAsDocuments({
    collection: challengers,
    idOf: uuidToBinary,
    toState: toChallengers,
    toDocument: toChallengersDocument,
  });
  return effect<ChallengersShape>({
    name: 'challengers',
    commands: { StartChallenger: records.startChallenger, EndChallenger: records.endChallenger },
    events: { ChallengerStarted: records.challengerStarted, ChallengerEnded: records.challengerEnded },
    keyOf: ({ payload }) => payload.ou_id,
    initial: noChallengers,
    contextOf: (commands) => contextOf(commands, dependencies),
    decide: decideChallenger,
    evolve: evolveChallengers,
    resultOf: ({ type, payload }, state) => {
      const challenger = type === 'StartChallenger' ? runningOf(state, payload.challenger_id) : undefined;
      return challenger && (challengerAnswer(challenger) as unknown as JsonValue);
    },
    stored: { ...stored, collections: [challengerFigures, ...stored.collections] },
    work: (scope: PartitionScope) => new ChallengerRuns(dependencies, scope, inTurn),
  });
}

/** Performs one piece of work after the other. */
function oneAfterTheOther(): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

async function contextOf(
  commands: readonly ChallengerCommand[],
  { configurations, log }: ChallengerDependencies,
): Promise<ChallengerContext> {
  const starting = commands.flatMap(({ type, payload }) =>
    type === 'StartChallenger' ? [payload.ou_id] : [],
  );
  if (starting.length === 0) return { configurations: new Map(), starts: [] };
  const [live, ends] = await Promise.all([
    Promise.all(starting.map(async (ouId) => [ouId, await loadOne(configurations(), ouId)] as const)),
    endsOfLog(log()),
  ]);
  return {
    configurations: new Map(live),
    starts: ends.map(({ ingest_end: ingest, scoring_end: scoring }) => ({ ingest, scoring })),
  };
}
