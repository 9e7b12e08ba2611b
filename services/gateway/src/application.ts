// The gateway's express application: the steps before a route, and a problem answer for every error.
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
  app.use(prepareAnswer(logger));
  app.use(checkPath);
  app.use(router);
  app.use(limitAddress, notFound);
  app.use(problemHandler(logger, sendProblemOrPage));
  return app;
}

/** Sets the headers of every answer; at log level debug, logs each answer. */
function prepareAnswer(logger: Logger): RequestHandler {
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
        // Without the query, which may contain names of people, and without the tokens of share links.
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
