// Creates the first organisation, so that a new system can be used. The command is idempotent and is sent at each start.
import { nameBasedId, records, secretHashOf } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord, type Requester } from '@lead-scoring/event-log';
import type { RateLimit } from './identity/messages.js';
import type { CommandSignature } from './identity/command-signature.js';
import { defineComponent, pause, type Component, type Logger } from '@lead-scoring/service';

export interface BootstrapOptions {
  organisation: string;
  unit: string;
  token: string;
  /** The limit of the token; default: the standard limit. */
  rateLimit?: RateLimit;
}

/** The namespace of organisations' ids; any fixed UUID. */
const organisationNamespace = '3d1f0b5e-5c0a-5d7e-9a53-0f1c5f6f2a10';
const retryPauseMs = 1_000;

/** The id of the organisation with a name. */
export function organisationIdOf(name: string): string {
  return nameBasedId(organisationNamespace, `organisation:${name}`);
}

/** The command: its ids come from the names, so it is the same in every instance and at every start. */
export function bootstrapCommand(options: BootstrapOptions, requestedAt: string): OutgoingRecord {
  const organisation_id = organisationIdOf(options.organisation);
  const hash = secretHashOf(options.token);
  const token_id = nameBasedId(organisation_id, `bootstrap-token:${hash}`);
  return outgoing(records.bootstrapOrganisation, {
    key: organisation_id,
    payload: {
      organisation_id,
      name: options.organisation,
      ou_id: nameBasedId(organisation_id, `bootstrap-ou:${options.unit}`),
      ou_name: options.unit,
      token_id,
      token_hash: hash,
      token_last_four: options.token.slice(-4),
      ...(options.rateLimit && { token_rate_limit: options.rateLimit }),
      requested_at: requestedAt,
      actor: { kind: 'system', id: 'bootstrap' },
    },
    headers: { id: token_id, actor: 'bootstrap' },
  });
}

export interface BootstrapStatus {
  /** Whether the organisation is known to exist. */
  done(): boolean;
}

/** Sends the command in the background until it succeeds; the gateway serves other callers meanwhile. */
export function createBootstrap(
  options: BootstrapOptions,
  {
    requester,
    signature,
    logger,
    changed,
  }: { requester: Requester; signature: CommandSignature; logger: Logger; changed: () => void },
): Component<BootstrapStatus> {
  return defineComponent('bootstrap', () => {
    let done = false;
    const stopping = new AbortController();
    const run = async (): Promise<void> => {
      while (!done && !stopping.signal.aborted) {
        try {
          const command = signature.sign(bootstrapCommand(options, new Date().toISOString()));
          const reply = await requester.request(command, { timeoutMs: 10_000 });
          if (reply.outcome === 'rejected') throw new Error(`refused: ${reply.code} ${reply.message}`);
          done = true;
          changed();
          logger.info({ organisation: options.organisation }, 'the first organisation exists');
        } catch (error) {
          logger.warn({ err: error }, 'the first organisation is not created yet; trying again');
          await pause(retryPauseMs, stopping.signal);
        }
      }
    };
    void run();
    return Promise.resolve({
      value: { done: () => done },
      stop: () => {
        stopping.abort();
        return Promise.resolve();
      },
    });
  });
}
