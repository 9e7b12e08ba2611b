// Decides a part of the deletion of a type: the mark, which changes no score, or some leads that had events of the type. It reads the
// recorded decisions on these leads, which are in the database once those of the batches before are written.
import type { PartitionScope } from '@lead-scoring/capability';
import { eventTypeKey, records } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { configurationsOfVersions } from '../configuration-changes/documents.js';
import { recordKeysUpTo } from '../keys.js';
import { decisionOf, timeline } from '../leads/documents.js';
import { leadName } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import type { Lead } from '../leads/state.js';
import { compileLimits, type CompiledLimits } from '../scores/limits-model.js';
import type { DecisionSource } from '../scores/source-model.js';
import type { CompiledRules } from '../scores/rule-model.js';
import type { OpenTypeScores } from '../type-scores/capability.js';
import { decideWithout } from './decision-model.js';
import type { RecordedDecision } from './score-without-model.js';

export interface PartDependencies {
  readonly scope: PartitionScope;
  readonly leads: OpenLeads;
  readonly typeScores: OpenTypeScores;
}

export interface DecidedPart {
  readonly decisions: readonly records.ScoreAdjusted[];
  /** The leads before. */
  readonly leads: ReadonlyMap<string, Lead | null>;
}

/** Leads whose decisions are read at the same time. */
const readAtOnce = 16;

/** The decisions on the leads of a part. */
export async function decidePart(
  part: records.DeletedEventsCleared,
  rules: CompiledRules,
  { scope: { readModel }, leads: openLeads, typeScores }: PartDependencies,
): Promise<DecidedPart> {
  const { ou_id, event_type } = part;
  const key = eventTypeKey(event_type);
  if (part.leads.length === 0 || (await typeScores.countOf(ou_id, key)) === 0)
    return { decisions: [], leads: new Map() };
  const leads = await openLeads.load(part.leads.map((lead_id) => ({ ou_id, lead_id })));
  await openLeads.write();
  const concerned: { lead: Lead; recorded: RecordedDecision[] }[] = [];
  for (let from = 0; from < part.leads.length; from += readAtOnce)
    await Promise.all(
      part.leads.slice(from, from + readAtOnce).map(async (leadId) => {
        const lead = leads.get(leadName(ou_id, leadId));
        const recorded = lead ? await recordedOn(readModel, lead) : [];
        if (lead && recorded.some((decision) => namesType(decision, key))) concerned.push({ lead, recorded });
      }),
    );
  const limitsOf = await limitsByVersion(readModel, ou_id, concerned);
  const decisions = concerned.flatMap(
    ({ lead, recorded }) => decideWithout(lead, recorded, part, { live: rules, limitsOf }) ?? [],
  );
  return { decisions: decisions.sort((one, other) => (one.lead_id < other.lead_id ? -1 : 1)), leads };
}

function recordedOn(
  readModel: ReadModel,
  { ou_id, id, first_offset, offset }: Lead,
): Promise<RecordedDecision[]> {
  return withClassifiedErrors(async () => {
    const found = await readModel
      .collection(timeline)
      .find({ _id: recordKeysUpTo(id, offset, first_offset), ou: uuidToBinary(ou_id) })
      .sort({ _id: 1 })
      .toArray();
    return found.map((document) => {
      const payload = decisionOf(document);
      return 'scored_events' in payload
        ? { type: 'LeadScored', payload }
        : { type: 'ScoreAdjusted', payload };
    });
  });
}

function namesType({ type, payload }: RecordedDecision, key: string): boolean {
  return (
    type === 'LeadScored' && payload.scored_events.some((event) => eventTypeKey(event.event_type) === key)
  );
}

/** The limits of the versions of the configuration by which the leads were scored. */
async function limitsByVersion(
  readModel: ReadModel,
  ouId: string,
  concerned: readonly { recorded: readonly RecordedDecision[] }[],
): Promise<(version: number) => CompiledLimits | null> {
  const versions = new Set(
    concerned.flatMap(({ recorded }) => recorded.map(({ payload }) => payload.configuration_version)),
  );
  if (versions.size === 0) return () => null;
  const limits = new Map<number, CompiledLimits | null>();
  await configurationsOfVersions(readModel, ouId, versions, (configuration) => {
    limits.set(configuration.version, compileLimits(configuration));
  });
  return (version) => limits.get(version) ?? null;
}

/** What scoring tells of a part. */
export function partDecided(
  {
    ou_id,
    deletion_id,
    event_type,
    partition,
    before,
    part,
  }: Omit<records.EventScoresDeleted, 'leads' | 'events' | 'source' | 'at'>,
  decisions: readonly records.ScoreAdjusted[],
  { source, at }: { readonly source: DecisionSource; readonly at: string },
): OutgoingRecord {
  return outgoing(records.eventScoresDeleted, {
    key: String(partition),
    payload: {
      ...{ ou_id, deletion_id, event_type, partition, before, part },
      leads: decisions.length,
      events: decisions.reduce((sum, { deleted }) => sum + (deleted?.events ?? 0), 0),
      source,
      at,
    },
  });
}
