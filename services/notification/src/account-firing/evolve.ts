// Folds the events of account firing into an account's state. Pure.
import { noMemory, type TriggerMemory, withFired } from '@lead-scoring/scoring-domain/triggers';
import type { SubjectFold } from '../firing/firing-fold.js';
import type { AccountFiringEvent } from './messages.js';
import { initialAccountState, type AccountState } from './state.js';

export function evolveAccount(state: AccountState, event: AccountFiringEvent): AccountState {
  const seen = Math.max(state.seen, event.payload.source.offset);
  return { ...state, memories: evolveMemories(state.memories, event), seen };
}

export const accountFold: SubjectFold<AccountFiringEvent, AccountState> = {
  initial: ({ ou_id, account_id }) => initialAccountState(ou_id, account_id),
  evolve: evolveAccount,
};

function evolveMemories(
  memories: AccountState['memories'],
  event: AccountFiringEvent,
): AccountState['memories'] {
  switch (event.type) {
    case 'AccountMilestoneFired': {
      const { trigger, configuration_version } = event.payload;
      const fired = withFired(memories.get(trigger.id)?.fired ?? [], event.payload);
      return withMemory(memories, trigger.id, { fired, disarmed: configuration_version });
    }
    case 'AccountTriggerRearmed':
      return withMemory(memories, event.payload.trigger_id, { disarmed: null });
    case 'AccountTriggerSuppressed': {
      const { trigger, until, configuration_version } = event.payload;
      return withMemory(memories, trigger.id, {
        suppressed: { until: Date.parse(until), configuration_version },
      });
    }
    case 'AccountForgotten':
      return new Map();
  }
}

function withMemory(
  memories: AccountState['memories'],
  triggerId: string,
  change: Partial<TriggerMemory>,
): AccountState['memories'] {
  return new Map(memories).set(triggerId, { ...(memories.get(triggerId) ?? noMemory), ...change });
}
