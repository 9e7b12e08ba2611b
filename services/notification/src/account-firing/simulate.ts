// Simulates a trigger by account score: the live decider runs over the decisions on accounts that the log holds, and nothing is
// recorded. Decisions on imported history are decided on like all others.
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { isRecord, tail, type EventLog } from '@lead-scoring/event-log';
import { compileAlone, type MilestoneTrigger } from '@lead-scoring/scoring-domain/triggers';
import { HistoryExamination, type HistoryBounds, type Range } from '../firing/history-examination.js';
import { concernsAccount, decideAccountScored } from './decide.js';
import { initialAccountState, type AccountState } from './state.js';

/** Reads the decisions on accounts that were written since a time, in order per account. */
export type AccountsScoredSince = (
  written: Date,
  signal: AbortSignal,
) => AsyncIterable<records.AccountScored>;

/** Reads from the log, because the service stores only what fired for accounts. */
export function createAccountsScoredSince(log: EventLog): AccountsScoredSince {
  return async function* (written, signal) {
    for await (const record of tail(log, 'scoring.events', { from: written, follow: false, signal }))
      if (record.error === undefined && isRecord(record, records.accountScored)) yield record.payload;
  };
}

/** Reads no history from before the range: each decision has the score before it, and the trigger's memory begins empty. */
export async function simulateAccountMilestone(
  accountsScoredSince: AccountsScoredSince,
  trigger: MilestoneTrigger,
  range: Range,
  bounds: HistoryBounds,
): Promise<routeDeclarations.SimulatedMilestones> {
  const examination = new HistoryExamination<records.AccountMilestoneFired>(range, bounds);
  const simulated = new SimulatedAccounts(trigger, examination);
  const reading = new AbortController();
  const deadline = setTimeout(() => {
    reading.abort();
  }, bounds.timeMs);
  try {
    for await (const scored of accountsScoredSince(new Date(range.from), reading.signal)) {
      if (scored.ou_id !== trigger.ou_id || scored.decided_at >= range.to) continue;
      if (!examination.goesOn(scored.account_id, [{ timestamp: scored.decided_at }])) break;
      simulated.decide(scored);
    }
    if (reading.signal.aborted) examination.cutShort();
  } finally {
    clearTimeout(deadline);
    reading.abort();
  }
  const { firings, leads, leads_examined, ...examined } = examination.end();
  return {
    data: firings.map(({ account, cause, score, previous_score }) => {
      const { event_id, event_type, reason, timestamp } = cause;
      return {
        account: { id: account.id, name: account.name },
        at: timestamp,
        cause: { event_id, event_type, reason, timestamp },
        score,
        previous_score,
      };
    }),
    ...examined,
    leads: 0,
    leads_examined: 0,
    accounts: leads,
    accounts_examined: leads_examined,
  };
}

/** The accounts of a simulation, each with what the trigger remembers of it. */
class SimulatedAccounts {
  readonly #states = new Map<string, AccountState>();
  readonly #triggers;

  constructor(
    trigger: MilestoneTrigger,
    private readonly examination: HistoryExamination<records.AccountMilestoneFired>,
  ) {
    this.#triggers = compileAlone(trigger);
  }

  decide(recorded: records.AccountScored): void {
    const { ou_id, account_id } = recorded;
    // Forgotten as in the list of firings.
    if (recorded.leads === 0) {
      this.#states.delete(account_id);
      this.examination.forget(account_id, ({ account }) => account.id === account_id);
      return;
    }
    const scored = { ...recorded, fire_triggers: true };
    if (!concernsAccount(scored, this.#triggers)) return;
    const state = this.#states.get(account_id) ?? initialAccountState(ou_id, account_id);
    const source = { topic: 'scoring.events' as const, partition: 0, offset: state.seen + 1 };
    const decision = decideAccountScored(scored, source, state, this.#triggers);
    this.#states.set(account_id, decision.state);
    this.examination.add(
      account_id,
      decision.events.flatMap(({ type, payload }) => (type === 'AccountMilestoneFired' ? [payload] : [])),
    );
  }
}
