// Finds the write key in the body of a request that has no header Authorization. The body is read before its sender is known, so it has a
// limit of its own, counts against the client's address, and all such bodies together take at most half of the memory for events.
import { routeDeclarations, type RouteDeclaration } from '@lead-scoring/contracts';
import { decodeUtf8, hasBody, ProblemError } from '@lead-scoring/service';
import type { RequestHandler } from 'express';
import { headerOf, type GatewayRequest } from '../edge/request.js';
import { readInto, type IntakeDependencies } from '../intake/handler.js';
import type { RequestLimits } from '../rate-limit/request-limits.js';
import { writeKeyIn } from './read-messages.js';

export interface WriteKeyDependencies
  extends Pick<IntakeDependencies, 'bytesInFlight' | 'leastRate'>, Pick<RequestLimits, 'chargeAddress'> {}

/** The sender of all bodies that are read before their senders are known. */
const withoutCredential = 'without a credential';

/**
 * Leaves the body with the request, and the key, if there is one. A body that cannot be read holds none: authentication then refuses the
 * request.
 */
export function createWriteKeyFinder({
  bytesInFlight,
  leastRate,
  chargeAddress,
}: WriteKeyDependencies): (route: RouteDeclaration) => RequestHandler {
  return ({ bodyTypes: types = [] }) =>
    async (req: GatewayRequest, res, next) => {
      if ((headerOf(req, 'authorization') ?? '') !== '' || !hasBody(req)) {
        next();
        return;
      }
      const giveBack = await chargeAddress(req, res);
      const holding = bytesInFlight.open({
        credentialId: `address:${req.ip ?? 'unknown'}`,
        organisationId: withoutCredential,
      });
      res.once('close', () => {
        holding.release();
      });
      const maximumBytes = routeDeclarations.segmentLimits.keyedBodyBytes;
      try {
        const body = await readInto(holding, { req, types, leastRate, maximumBytes });
        const writeKey = writeKeyIn(decodeUtf8(body.bytes));
        req.keyed = { body, holding, ...(writeKey !== undefined && { writeKey }) };
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        holding.release();
      }
      giveBack();
      next();
    };
}

function isUnreadable(error: unknown): boolean {
  return error instanceof ProblemError && (error.status === 400 || error.status === 415);
}
