// Runs a consumer of docs/examples/consumers, which knows the AsyncAPI document, the brokers and the schema registry, and follows the
// scores that it prints.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '@lead-scoring/platform/waiting';
import { checkout, type TestSystem } from './test-system.js';

export const consumerExamples = join(checkout, 'docs/examples/consumers');

/** How a consumer is started. */
export interface ConsumerProgram {
  command: string;
  args: readonly string[];
}

export interface FollowedScores {
  /** The latest score of each lead; null where it is gone. */
  scores: ReadonlyMap<string, number | null>;
  /** Number of changes so far. */
  changes(): number;
  /** Ends the program as an operator would; resolves when it has ended. */
  stop(): Promise<{ code: number | null; errors: string }>;
}

/** Starts the consumer in a group; it goes on where an earlier one of the group has ended. */
export function followScores(program: ConsumerProgram, system: TestSystem, group: string): FollowedScores {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const child = spawn(program.command, program.args, {
    env: {
      ...environment,
      API_URL: system.url,
      KAFKA_BROKERS: system.endpoints.kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: system.endpoints.schemaRegistryUrl,
      GROUP_ID: group,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const scores = new Map<string, number | null>();
  let changes = 0;
  let unfinished = '';
  let errors = '';
  child.stdout.on('data', (part: Buffer) => {
    const lines = (unfinished + part.toString()).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const { lead_id, score } = JSON.parse(line) as { lead_id: string; score: number | null };
      scores.set(lead_id, score);
      changes += 1;
    }
  });
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
  child.on('error', (error) => (errors += error.message));
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, errors });
    });
  });
  return {
    scores,
    changes: () => changes,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/**
 * Resolves when the consumer knows the score of each lead that GET /leads lists, and no other score.
 *
 * @param token for one organizational unit
 */
export async function untilScoresAgree(
  system: TestSystem,
  token: string,
  { scores }: FollowedScores,
  timeoutMs = 60_000,
): Promise<number> {
  return eventually(
    'the consumer knows all scores',
    async () => {
      const leads: { id: string; score: number }[] = [];
      for (let page = 1; ; page += 1) {
        const { body } = await system.request<{ data: typeof leads }>(`/leads?limit=100&page=${page}`, {
          token,
        });
        leads.push(...body.data);
        if (body.data.length < 100) break;
      }
      const other = leads.find(({ id, score }) => scores.get(id) !== score);
      if (other) throw new Error(`${other.id} has ${other.score}, and not ${String(scores.get(other.id))}`);
      return leads.length > 0 ? leads.length : undefined;
    },
    timeoutMs,
  );
}
