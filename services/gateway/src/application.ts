// The gateway's express application: few steps before a route, problems for everything that goes wrong.
import {
  checkPath,
  loggedPath,
  notFound,
  problemHandler,
  requestIdOf,
  type Logger,
} from '@lead-scoring/service';
import express, { type Express, type RequestHandler } from 'express';
import type { Router } from 'express';
import { sendProblemOrPage } from './edge/problem-page.js';

export interface ApplicationOptions {
  router: Router;
  limitAddress: RequestHandler;
  logger: Logger;
  /** Proxies in front of the gateway whose X-Forwarded-For counts. */
  trustedProxies: number;
}

export function createApplication({
  router,
  limitAddress,
  logger,
  trustedProxies,
}: ApplicationOptions): Express {
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', false)
    .set('case sensitive routing', true)
    .set('strict routing', true)
    .set('trust proxy', trustedProxies);
  app.use(everyAnswer(logger));
  app.use(checkPath);
  app.use(router);
  app.use(limitAddress, notFound);
  app.use(problemHandler(logger, sendProblemOrPage));
  return app;
}

/** Headers of every answer, and a line of the log for each when somebody wants to see them. */
function everyAnswer(logger: Logger): RequestHandler {
  const logged = logger.isLevelEnabled('debug');
  return (req, res, next) => {
    const request_id = requestIdOf(req);
    res.setHeader('X-Request-Id', request_id);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Referrer-Policy', 'no-referrer');
    res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
    if (logged) {
      const startedAt = performance.now();
      res.once('finish', () => {
        // Without the query, which may hold names of people, and without the tokens of links.
        logger.debug(
          {
            request_id,
            method: req.method,
            path: loggedPath(req.path),
            status: res.statusCode,
            ms: Math.round(performance.now() - startedAt),
          },
          'answered',
        );
      });
    }
    next();
  };
}
