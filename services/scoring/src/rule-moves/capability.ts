// The leads and accounts that rules have moved as a projection: counted for the history of a rule.
import { projection, type OpenCapability } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  BufferedStates,
  offsetToNumber,
  RareWrites,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import { ruleVersionKey } from '../keys.js';
import {
  ruleMoves,
  toFoldedMoves,
  toRuleMovesDocument,
  type RuleMovesDocument,
  type RuleVersionIdentity,
} from './documents.js';
import { MovedByRules, withLeads, type FoldedMoves, type MovedLeads } from './moves-model.js';

/** Versions of rules that a partition keeps in memory, each with at most 4 KiB. */
const maximumCached = 2_000;
/** Milliseconds between two writes: while leads are new to rules, nearly every batch changes the documents of all rules, of 4 KiB each. */
const writtenEveryMs = 5_000;

export const movedLeads = projection({
  name: 'rule-moves',
  // A deletion takes nothing back: a deleted lead was moved all the same.
  events: {
    LeadScored: records.leadScored,
    ScoreAdjusted: records.scoreAdjusted,
    AccountScored: records.accountScored,
  },
  collections: [ruleMoves],
  open: ({ readModel, partition }) => new OpenRuleMoves(readModel, partition),
});

class OpenRuleMoves implements OpenCapability {
  readonly #moves: BufferedStates<FoldedMoves, RuleMovesDocument>;
  readonly #behind: WriteBehind;
  readonly #writes: RareWrites;

  constructor(readModel: ReadModel, partition: number) {
    this.#moves = new BufferedStates(readModel, {
      collection: ruleMoves,
      idOf: (name) => {
        const { ou_id, rule_id, version } = identityOf(name);
        return ruleVersionKey(ou_id, rule_id, { version, partition });
      },
      toState: toFoldedMoves,
      toDocument: (moves, name) => toRuleMovesDocument(identityOf(name), moves, partition),
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#moves]);
    this.#writes = new RareWrites(this.#behind, writtenEveryMs);
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    await this.#behind.room();
    const [first] = folded;
    const moved = movedIn(folded);
    const before = await this.#moves.load(moved.keys());
    for (const [name, leads] of moved) {
      const known = before.get(name) ?? null;
      const after = withLeads(known, leads);
      if (after === known) continue;
      this.#moves.put(name, after);
      if (first) this.#writes.changed(first.offset);
    }
  }

  write(awaited: AbortSignal): Promise<void> {
    return this.#writes.write(awaited);
  }

  unwrittenFrom(): bigint | null {
    return this.#writes.from;
  }

  forget(): void {
    this.#writes.forget();
  }
}

/** The leads that decisions have moved, by the name of the version of a rule. */
function movedIn(folded: readonly FoldedRecord[]): Map<string, MovedLeads> {
  const rules = new MovedByRules();
  for (const { type, payload, offset } of folded) {
    const at = offsetToNumber(offset);
    if (type === records.leadScored.type) rules.addScored(payload as records.LeadScored, at);
    else if (type === records.scoreAdjusted.type) rules.addAdjusted(payload as records.ScoreAdjusted, at);
    else rules.addAccount(payload as records.AccountScored, at);
  }
  return new Map(Array.from(rules, (moved) => [nameOf(moved), moved]));
}

/** The key of a version of a rule in maps. */
function nameOf({ ou_id, rule_id, version }: RuleVersionIdentity): string {
  return `${ou_id}/${rule_id}/${String(version)}`;
}

function identityOf(name: string): RuleVersionIdentity {
  const [ou_id = '', rule_id = '', version] = name.split('/');
  return { ou_id, rule_id, version: Number(version) };
}
