// Bounds the memory of intake: the bodies that are being read, checked or written, counted as their bytes arrive.
//
// The memory is shared by dynamic thresholds, like the buffers of network switches: a credential may hold half as much as is free, an
// organisation as much as is free. A single credential gets a third of the memory, a single organisation half of it; the more senders
// hold their share, the smaller the shares become, and some memory always stays free for a sender that holds none.
import type { ProblemError } from '@lead-scoring/service';
import { tryAgain } from '../problem.js';

export interface Sender {
  credentialId: string;
  organisationId: string;
}

/** The bytes that one request holds. */
export interface Holding {
  /** @throws ProblemError 503 `log_overloaded` when so many more bytes would exceed the sender's share */
  add(bytes: number): void;
  /** Releases bytes until only so many are held. */
  shrinkTo(bytes: number): void;
  /** Releases all bytes; a second call does nothing. */
  release(): void;
}

export interface BytesInFlight {
  /** A new request, which holds nothing yet. */
  open(sender: Sender): Holding;
  readonly used: number;
}

export function createBytesInFlight(maximum: number): BytesInFlight {
  let used = 0;
  const ofCredentials = new Map<string, number>();
  const ofOrganisations = new Map<string, number>();

  const change = (held: Map<string, number>, key: string, bytes: number): void => {
    const now = (held.get(key) ?? 0) + bytes;
    if (now === 0) held.delete(key);
    else held.set(key, now);
  };
  const account = ({ credentialId, organisationId }: Sender, bytes: number): void => {
    used += bytes;
    change(ofCredentials, credentialId, bytes);
    change(ofOrganisations, organisationId, bytes);
  };
  const check = ({ credentialId, organisationId }: Sender, bytes: number): void => {
    const free = maximum - used - bytes;
    if (free < 0) throw refusal('More events are coming in than the gateway can hold in memory.');
    if ((ofCredentials.get(credentialId) ?? 0) + bytes > free / 2)
      throw refusal('The requests in flight of this credential fill its share of the memory for events.');
    if ((ofOrganisations.get(organisationId) ?? 0) + bytes > free)
      throw refusal('The requests in flight of this organisation fill its share of the memory for events.');
  };
  return {
    open: (sender) => {
      let held = 0;
      const keep = (bytes: number) => {
        account(sender, bytes);
        held += bytes;
      };
      return {
        add: (bytes) => {
          check(sender, bytes);
          keep(bytes);
        },
        shrinkTo: (bytes) => {
          keep(Math.min(0, bytes - held));
        },
        release: () => {
          keep(-held);
        },
      };
    },
    get used() {
      return used;
    },
  };
}

function refusal(reason: string): ProblemError {
  return tryAgain('log_overloaded', `${reason} Send the events again in a moment, fewer at a time.`, 1);
}
