// The documents of the leads that rules have moved: one for each version of a rule in each partition.
import {
  Binary,
  bytesOf,
  defineCollection,
  withClassifiedErrors,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { ruleVersionKey, ruleVersionKeysFrom } from '../keys.js';
import { movedSince, type FoldedMoves, type MoveCount, type Moves } from './moves-model.js';

/** `_id` is ruleVersionKey. */
export interface RuleMovesDocument extends GuardedDocument {
  _id: Binary;
  version: number;
  /** The marks as numbers of 8 bytes, ascending; in place of the sketch. */
  marks?: Binary;
  /** One byte for each register. */
  sketch?: Binary;
}

export const ruleMoves = defineCollection<RuleMovesDocument>({ name: 'rule_moves', indexes: [] });

export interface RuleVersionIdentity {
  readonly ou_id: string;
  readonly rule_id: string;
  readonly version: number;
}

export function toRuleMovesDocument(
  { ou_id, rule_id, version }: RuleVersionIdentity,
  { moves, offset }: FoldedMoves,
  partition: number,
): RuleMovesDocument {
  return {
    _id: ruleVersionKey(ou_id, rule_id, { version, partition }),
    version,
    ...('marks' in moves ? { marks: binaryOf(moves.marks) } : { sketch: binaryOf(moves.sketch) }),
    partition,
    offset,
  };
}

function binaryOf({ buffer, byteOffset, byteLength }: Float64Array | Uint8Array): Binary {
  return new Binary(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength), 0);
}

export function toFoldedMoves(document: RuleMovesDocument): FoldedMoves {
  return { moves: movesOf(document), offset: document.offset };
}

function movesOf({ marks, sketch }: Pick<RuleMovesDocument, 'marks' | 'sketch'>): Moves {
  if (sketch) return { sketch: Uint8Array.from(bytesOf(sketch)) };
  if (!marks) throw new Error('a document of moved leads has neither marks nor a sketch');
  // A copy, because numbers must begin at a multiple of their size.
  return { marks: new Float64Array(Uint8Array.from(bytesOf(marks)).buffer) };
}

/**
 * The leads that a rule has moved since each of these versions.
 * @param versions in descending order
 */
export async function readMovedSince(
  readModel: ReadModel,
  { ou_id, rule_id }: Omit<RuleVersionIdentity, 'version'>,
  versions: readonly number[],
): Promise<MoveCount[]> {
  const oldest = versions.at(-1);
  if (oldest === undefined) return [];
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(ruleMoves)
      .find({ _id: ruleVersionKeysFrom(ou_id, rule_id, oldest) })
      .sort({ _id: -1 })
      .toArray(),
  );
  return movedSince(
    found.map((document) => ({ ...document, moves: movesOf(document) })),
    versions,
  );
}
