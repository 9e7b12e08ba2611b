// The credential of a source: it says whose the events are, who sent them, and whether it still may.
import { routeDeclarations } from '@lead-scoring/contracts';
import { defineComponent, ProblemError, type Component, type Logger } from '@lead-scoring/service';
import { checkAccess, type Authenticator, type Caller } from '../credentials/authenticate.js';
import { authorizationOfWriteKey } from '../credentials/authorization-header.js';
import type { LastUseRecorder } from '../credentials/last-use.js';

/** The source may not send now. It is asked again: an operator may restore the credential or its unit. */
export class SourceRefused extends Error {
  override readonly name = 'SourceRefused';
  readonly retriable = true;
}

export interface SourceCredential {
  /**
   * The caller, as of the last seconds.
   * @throws SourceRefused
   */
  caller(): Promise<Caller>;
  /**
   * The unit of events without one of their own.
   * @throws SourceRefused
   */
  unit(caller: Caller): Promise<string>;
  /**
   * Whether the caller may send events of this unit: its id as the system spells it, or the reason why not.
   * @throws SourceRefused while that is not known
   */
  unitNamed(caller: Caller, ouId: string): Promise<{ ouId: string } | { problem: string }>;
}

/** The header Authorization that a request with this credential would have. */
export function authorizationOf(credential: string): string {
  return credential.startsWith('lsp_') ? `Bearer ${credential}` : authorizationOfWriteKey(credential);
}

/** Asks at the start, so that a wrong credential is seen before the first record comes. */
export function createSourceCredential(
  credential: string,
  {
    authenticator,
    lastUses,
    logger,
  }: { authenticator: Authenticator; lastUses: LastUseRecorder; logger: Logger },
): Component<SourceCredential> {
  return defineComponent('source credential', async () => {
    const value = new AuthenticatedSource(authorizationOf(credential), authenticator, lastUses);
    await value.caller().catch((error: unknown) => {
      logger.error({ err: error }, 'the credential of the source is refused; it is asked again');
    });
    return { value, stop: () => Promise.resolve() };
  });
}

/** Nobody guesses here, so nothing is charged. */
const noCharge = () => Promise.resolve(() => undefined);

class AuthenticatedSource implements SourceCredential {
  constructor(
    private readonly authorization: string,
    private readonly authenticator: Authenticator,
    private readonly lastUses: LastUseRecorder,
  ) {}

  async caller(): Promise<Caller> {
    try {
      const caller = await this.authenticator.authenticate(this.authorization, noCharge);
      checkAccess(caller, routeDeclarations.ingest.access);
      this.lastUses.used(caller.credentialId);
      return caller;
    } catch (error) {
      throw refused(error);
    }
  }

  async unit(caller: Caller): Promise<string> {
    try {
      return await this.authenticator.orgUnit(caller, undefined, undefined);
    } catch (error) {
      throw refused(error, ' Or name it in the file of the source: "ou_id": {"fixed": "…"}.');
    }
  }

  async unitNamed(caller: Caller, ouId: string): Promise<{ ouId: string } | { problem: string }> {
    try {
      return { ouId: await this.authenticator.orgUnit(caller, ouId, undefined) };
    } catch (error) {
      if (error instanceof ProblemError && error.status < 500)
        return {
          problem:
            'ou_id: must be the id of an organizational unit that the credential of the source may use',
        };
      throw refused(error);
    }
  }
}

function refused(error: unknown, remedy = ''): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new SourceRefused(`${reason}${remedy}`, { cause: error });
}
