// What a rescoring computes of one group of leads. Input and result are plain data, so that a thread of its own can do it.
import type { records } from '@lead-scoring/contracts';
import type { EventLog } from '@lead-scoring/event-log';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { readCauses, readDecisions, type HistoryPart } from '../what-if/history.js';
import { packedLeads, unpackedLeads, type PackedLeads } from './documents.js';
import { PreparedGroup } from './prepared-model.js';
import { GroupRescoring } from './rescored-model.js';
import type { Rescored } from './state-model.js';
import { readTail } from './tail.js';

export interface RescoringGroup {
  readonly part: Omit<HistoryPart, 'signal' | 'chosen'>;
  /** The rules of when the job began. */
  readonly configuration: ScoringConfiguration;
  readonly rescored: Rescored;
  /** The moment of which the scores are. */
  readonly at: string;
  /** Whether the new scores are to come into force. */
  readonly isPreparing: boolean;
}

export interface RescoredLeads {
  readonly found: records.WhatIfFound;
  /** Packed where they were computed, because packing 20,000 leads takes some tenths of a second; none in a dry run. */
  readonly prepared: readonly PackedLeads[];
}

export async function rescoreGroup(
  { part, configuration, rescored, at, isPreparing }: RescoringGroup,
  log: EventLog,
  signal: AbortSignal,
): Promise<RescoredLeads> {
  const group = new GroupRescoring(configuration, rescored, at, isPreparing);
  const history = { ...part, signal };
  for await (const decisions of readDecisions(log, history)) group.takeDecisions(decisions);
  for await (const causes of readCauses(log, history)) group.takeCauses(causes);
  group.end();
  return { found: group.found(), prepared: isPreparing ? packedLeads(group.prepared()) : [] };
}

/** Prepared leads that are to take into account what has happened since. */
export interface AdvancedGroup extends Pick<RescoringGroup, 'configuration' | 'rescored'> {
  readonly part: Omit<HistoryPart, 'signal' | 'chosen' | 'from' | 'ends'>;
  readonly packed: readonly Uint8Array[];
  /** Offsets of scoring.events, the second exclusive. */
  readonly range: { readonly from: number; readonly to: number };
  /** Records that are in memory at a time. */
  readonly recordsAtOnce: number;
}

export async function advanceGroup(
  { part, configuration, rescored, packed, range, recordsAtOnce }: AdvancedGroup,
  log: EventLog,
  signal: AbortSignal,
): Promise<PackedLeads[]> {
  const group = new PreparedGroup(part.ouId, configuration, rescored, packed.flatMap(unpackedLeads));
  for (let { from } = range; from < range.to; from += recordsAtOnce) {
    const to = Math.min(range.to, from + recordsAtOnce);
    const { happenings, decisions } = await readTail(log, { ...part, signal }, { from, to });
    group.take(happenings, decisions);
  }
  return packedLeads(group.all());
}
