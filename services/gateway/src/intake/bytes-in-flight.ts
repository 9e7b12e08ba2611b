// Bounds the memory of intake: bodies that are being read, checked or written, counted as their bytes arrive.
//
// The room is shared by dynamic thresholds, as buffers of switches are: a credential may hold half as much as is free,
// an organisation as much as is free. Alone, a credential gets a third of the room and an organisation half of it; the
// more hold their share, the smaller the shares grow, and some room is always left for a sender that holds none.
import type { ProblemError } from '@lead-scoring/service';
import { tryAgain } from '../problem.js';

export interface Sender {
  credentialId: string;
  organisationId: string;
}

/** What one request holds. */
export interface Holding {
  /** @throws ProblemError 503 `log_overloaded` when there is no room for so many more bytes */
  add(bytes: number): void;
  /** Gives room back: so much is still held. */
  shrinkTo(bytes: number): void;
  /** Gives all room back; once is enough, twice does no harm. */
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
    if (free < 0) throw refusal('More events are coming in than can be taken.');
    if ((ofCredentials.get(credentialId) ?? 0) + bytes > free / 2)
      throw refusal('The requests of this credential that are being taken fill its share of the room.');
    if ((ofOrganisations.get(organisationId) ?? 0) + bytes > free)
      throw refusal('The requests of this organisation that are being taken fill its share of the room.');
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
