// People and visitors in tests of who is who: the events that come under their aliases, and the scores of their leads.
import { expect } from '@jest/globals';
import { leadIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import type { NotifiedSystem } from './notified-system.js';

export interface Alias {
  alias_kind: string;
  alias: string;
}

export const visitor = (alias: string): Alias => ({ alias_kind: 'anonymous_id', alias });
export const person = (name: string): Alias => ({ alias_kind: 'email', alias: `${name}@example.com` });

/** @param running the system once it is running */
export function peopleIn(running: () => NotifiedSystem) {
  const idOf = ({ alias_kind, alias }: Alias) => leadIdOf(running().ouId, alias_kind, alias);
  return {
    /** The id that a lead has from its alias. */
    idOf,

    /** Sends events that name these aliases. */
    happen: async (
      aliases: Alias[],
      event_type: 'Pricing View' | 'Form Submit',
      { count = 1, event_id, company }: { count?: number; event_id?: string; company?: string } = {},
    ): Promise<void> => {
      const event = {
        aliases,
        event_type,
        ...(event_id !== undefined && { event_id }),
        ...(company !== undefined && { metadata: { company } }),
      };
      const body = Array.from({ length: count }, () => event);
      const { status } = await running().request('/ingest', { body });
      expect(status).toBe(202);
    },

    /** Waits until the id of the alias answers with a lead of this score, all of which is explained. */
    scoreOf: (alias: Alias, score: number): Promise<routeDeclarations.ScoreExplanation> =>
      eventually(
        `${alias.alias} has ${String(score)} points`,
        async () => {
          const { status, body } = await running().request<routeDeclarations.ScoreExplanation>(
            `/lead/${idOf(alias)}/score-explain?range_hours=876000`,
          );
          if (status !== 200 || body.score !== score)
            throw new Error(`${String(status)} ${String(body.score)}`);
          expect(body.unattributed).toBe(0);
          return body;
        },
        60_000,
      ),

    /** The id of the lead that the id of the alias names. */
    leadAnswered: async (alias: Alias) =>
      (await running().request<{ lead_id: string }>(`/score/${idOf(alias)}`)).body.lead_id,
  };
}
