// What is set for leads, while a batch is decided. Pure.
import { noMetadata, type JoinedMetadata, type records } from '@lead-scoring/contracts';
import type { BatchOutput } from './output-model.js';
import type { KnownMetadata, LookedUpAliases } from './state.js';

/** The patches that a lead remembers: a command that comes again comes soon. */
const rememberedPatches = 5;

const nothing: KnownMetadata = { ...noMetadata, patches: [], patched_at: '' };

/** What is set for a lead after an event. */
export function evolveMetadata(
  known: KnownMetadata | undefined,
  { metadata, own = metadata, joined = [], patch_id, patched_at }: records.LeadMetadataPatched,
): KnownMetadata {
  const patches = known?.patches ?? [];
  if (patch_id === undefined) return { own, joined, patches, patched_at };
  return { own, joined, patches: [...patches, patch_id].slice(-rememberedPatches), patched_at };
}

export class BatchMetadata {
  /** By lead, as the batch has changed it. */
  readonly #changed = new Map<string, KnownMetadata>();

  constructor(
    private readonly known: Pick<LookedUpAliases, 'metadata'>,
    private readonly output: BatchOutput,
  ) {}

  of(leadId: string): KnownMetadata {
    return this.#changed.get(leadId) ?? this.known.metadata.get(leadId) ?? nothing;
  }

  record(payload: records.LeadMetadataPatched): void {
    this.#changed.set(payload.lead_id, evolveMetadata(this.of(payload.lead_id), payload));
    this.output.record({ type: 'LeadMetadataPatched', payload });
  }

  /** Nothing is set for a lead that has ended. */
  forget(leadId: string): void {
    this.#changed.set(leadId, nothing);
  }

  /** What a lead brings along to one that it joins: what was set for itself first. */
  broughtBy(leadId: string): JoinedMetadata[] {
    const { own, joined } = this.of(leadId);
    return [...(Object.keys(own).length > 0 ? [{ lead_id: leadId, metadata: own }] : []), ...joined];
  }
}
