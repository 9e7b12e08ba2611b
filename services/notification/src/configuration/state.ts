// The state of an OU's channels and triggers: one aggregate, published whole.
import type { Actor, records } from '@lead-scoring/contracts';
import type { Trigger } from '@lead-scoring/scoring-domain/triggers';

export interface Channel {
  id: string;
  ou_id: string;
  name: string;
  /** Type and settings; secrets are sealed. */
  destination: records.ChannelDestination;
  signing: {
    key_id: string;
    /** Sealed. Undefined for a channel that was created before secrets were stored, until its secrets are resealed. */
    secret?: string | undefined;
    /** The previous key signs too, until `valid_until`. */
    previous: { key_id: string; secret?: string | undefined; valid_until: string } | null;
  };
  version: number;
  created_at: string;
  updated_at: string;
  /** The actor of the latest change; undefined: not known. */
  changed_by?: Actor | undefined;
}

/** Channels and triggers are in the order of their creation. */
export interface NotificationConfiguration {
  readonly ou_id: string;
  /** Grows with every change; 0 before the first. */
  readonly version: number;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly triggers: ReadonlyMap<string, Trigger>;
}

export function emptyNotificationConfiguration(ouId: string): NotificationConfiguration {
  return { ou_id: ouId, version: 0, channels: new Map(), triggers: new Map() };
}
