// Liveness and readiness: does the process answer, and can it do its work now?
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '@lead-scoring/contracts';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

/** Rejects, or does not resolve in time, when the checked part is not usable. */
export type HealthCheck = () => Promise<void>;

export interface Readiness {
  status: 'ready' | 'not_ready';
  checks: Record<string, { ok: boolean; detail?: string }>;
}

/** A failure whose message may be shown to anyone who can reach the port. */
class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** A check that fails with the message `otherwise` while `holds` is false. */
export function readyWhen(holds: () => boolean, otherwise: string): HealthCheck {
  return () => (holds() ? Promise.resolve() : Promise.reject(new NotReady(otherwise)));
}

/** The check of a process that it is not about to end, and the function that a server calls when it is. */
export function createStaying(): { healthChecks: Record<'staying', HealthCheck>; onEnding: () => void } {
  let isEnding = false;
  return {
    healthChecks: { staying: readyWhen(() => !isEnding, 'the process is about to end') },
    onEnding: () => {
      isEnding = true;
    },
  };
}

/** The readiness checks of every service: its database answers, and its processors and projectors are caught up. */
export function serviceHealthChecks(
  readModel: { ping: () => Promise<void> },
  ...readers: readonly {
    ready: () => boolean;
    /** `halted`: the message for the operator about a halted partition. */
    partitions?: () => readonly { halted?: string }[];
  }[]
): Record<'read model' | 'partitions', HealthCheck> {
  return {
    'read model': () => readModel.ping(),
    partitions: () => {
      const halted = readers.flatMap(
        ({ partitions }) => partitions?.().flatMap((one) => one.halted ?? []) ?? [],
      );
      if (halted.length > 0) return Promise.reject(new NotReady([...new Set(halted)].join('; ')));
      if (readers.every((reader) => reader.ready())) return Promise.resolve();
      return Promise.reject(new NotReady('not every partition is caught up yet'));
    },
  };
}

const checkTimeoutMs = 2_000;

/**
 * Runs all checks at once, each within 2 s.
 * @param reported the reasons that the log has, by check: a reason is logged once, in one line, until it changes
 */
export async function readinessOf(
  checks: Readonly<Record<string, HealthCheck>>,
  logger: Pick<Logger, 'info' | 'warn'>,
  reported = new Map<string, string>(),
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, Readiness['checks'][string]]> => {
      try {
        await withDeadline(check());
        if (reported.delete(name)) logger.info({ check: name }, 'ready again');
        return [name, { ok: true }];
      } catch (error) {
        const reason = reasonOf(error);
        if (reported.get(name) !== reason) logger.warn({ check: name, reason }, 'not ready');
        reported.set(name, reason);
        // Messages of other errors may name hosts and users, so they are not shown.
        return [
          name,
          {
            ok: false,
            detail: error instanceof NotReady ? error.message.slice(0, 1_000) : 'failed; see the log',
          },
        ];
      }
    }),
  );
  return {
    status: results.every(([, { ok }]) => ok) ? 'ready' : 'not_ready',
    checks: Object.fromEntries(results),
  };
}

async function withDeadline(work: Promise<void>): Promise<void> {
  const settled = new AbortController();
  const late = delay(checkTimeoutMs, undefined, { signal: settled.signal }).then(
    () => {
      throw new NotReady(`no answer within ${String(checkTimeoutMs)} ms`);
    },
    () => {
      // The check answered in time.
    },
  );
  try {
    await Promise.race([work, late]);
  } finally {
    settled.abort();
  }
}

/** `GET /healthz`: 200 as long as the process answers. */
export const livenessHandler: RequestHandler = (_req, res) => {
  res.set('Cache-Control', 'no-store').json({ status: 'ok' });
};

/** `GET /readyz`: 200, or 503 with the checks that failed. */
export function readinessHandler(
  checks: Readonly<Record<string, HealthCheck>>,
  logger: Pick<Logger, 'info' | 'warn'>,
): RequestHandler {
  const reported = new Map<string, string>();
  return async (_req, res) => {
    const readiness = await readinessOf(checks, logger, reported);
    res
      .status(readiness.status === 'ready' ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json(readiness);
  };
}
