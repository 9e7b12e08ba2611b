// The read routes of the share service: the list of a lead's links, and the explanation behind a link.
import { timingSafeEqual } from 'node:crypto';
import { readAuditEntries } from '@lead-scoring/capability';
import { routeDeclarations, routes, shareFieldsOf, shareUrlOf } from '@lead-scoring/contracts';
import type { ExplanationReader, FoundLead } from '@lead-scoring/explanations';
import {
  findPage,
  isRetriable,
  uuidToBinary,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  AnswerOfUnit,
  bindQuery,
  parseOrProblem,
  ProblemError,
  RenderedAnswer,
  wantsPage,
  type BoundQuery,
} from '@lead-scoring/service';
import {
  pageHeaders,
  renderCsv,
  renderExpiredPage,
  renderSharePage,
  renderUnavailablePage,
  renderUnknownPage,
  type SharedExplanation,
} from '@lead-scoring/share-page';
import { PainterBusy, type PreviewPainter } from '@lead-scoring/share-page/preview';
import type { CatchingUp } from './catching-up.js';
import { shares, toShare, type ShareDocument } from './links/documents.js';
import { isSharedLead, statusOf, type Share } from './links/state.js';

export interface ShareQueryDependencies {
  readModel: ReadModel;
  explanations: ExplanationReader;
  catchingUp: CatchingUp;
  /** The base URL of share links, without a slash at the end. */
  appUrl: string;
  /** The clock, by which links expire. */
  now: () => Date;
  paintPreview: PreviewPainter['paint'];
}

export function shareQueries(dependencies: ShareQueryDependencies): BoundQuery[] {
  const { readModel, explanations, now } = dependencies;
  /** Binds a route that opens a link. Its answer names the link's OU, so that the gateway can refuse the link of an ended OU. */
  const bindLink = (
    route: LinkRoute,
    answerOf: (opened: OpenedShare, token: string) => unknown,
  ): BoundQuery => ({
    route,
    handle: async (req) => {
      const { token } = parseOrProblem(route.parameters, req.params, 'parameters');
      const opened = await openShare(dependencies, token);
      return new AnswerOfUnit(opened.ouId, await answerOf(opened, token));
    },
  });
  const page = bindLink(routes.sharePage, ({ shared }, token) =>
    pageAnswer(200, renderSharePage(shared, linksOf(dependencies.appUrl, token))),
  );
  return [
    bindQuery(routes.listShares, async ({ params, query, context: { ouId } }) => {
      const { first_offset } = await requireLead(explanations, ouId, params.id);
      const asOf = now();
      const { data, total, page, limit } = await findPage(readModel.collection(shares), {
        filter: {
          ou: uuidToBinary(ouId),
          lead: uuidToBinary(params.id),
          // Excludes links of a deleted lead with the same id.
          $or: [{ scoring_offset: null }, { scoring_offset: { $gt: first_offset } }],
        },
        sort: { field: 'created_at', direction: 'descending' },
        request: query,
        toItem: (document) => shareView(document, asOf),
      });
      return { data, total, page, limit };
    }),
    changesQuery(readModel),
    bindLink(routes.readShare, ({ explanation }) => explanation),
    bindLink(
      routes.shareCsv,
      ({ shared }) =>
        new RenderedAnswer('text/csv; charset=utf-8', renderCsv(shared), {
          headers: { 'Content-Disposition': 'attachment; filename="score-explanation.csv"' },
        }),
    ),
    bindLink(
      routes.sharePreview,
      async ({ shared }) => new RenderedAnswer('image/png', await paintedPreview(dependencies, shared)),
    ),
    {
      route: page.route,
      handle: async (req, call) => {
        try {
          return await page.handle(req, call);
        } catch (error) {
          const instead = wantsPage(req.get('accept')) ? pageInstead(error) : null;
          if (instead) return instead;
          throw error;
        }
      },
    },
  ];
}

/** The links that were made and revoked, for GET /audit. */
function changesQuery(readModel: ReadModel): BoundQuery {
  return bindQuery(routeDeclarations.listChanges, async ({ body, context: { ouId } }) => ({
    data: await readAuditEntries(readModel, { service: 'share', scope: ouId }, body),
  }));
}

/** 410; the page shows the time of expiry. */
class ShareExpired extends ProblemError {
  constructor(readonly expiresAt: string) {
    super(
      410,
      'share_expired',
      `This link expired on ${expiresAt}: links last seven days. Ask its sender for a new one.`,
    );
  }
}

type LinkRoute = (typeof routes)['readShare' | 'shareCsv' | 'sharePreview' | 'sharePage'];

interface OpenedShare {
  ouId: string;
  explanation: routeDeclarations.PublicScoreExplanation;
  shared: SharedExplanation;
}

/**
 * @throws ProblemError 404 for an unknown or revoked token, or one of a deleted lead; 410 for an expired one; 503 while events
 *   that may make the token known are not folded
 */
async function openShare(
  { readModel, explanations, catchingUp, now }: ShareQueryDependencies,
  token: string,
): Promise<OpenedShare> {
  const asOf = now();
  const share = (await findShare(readModel, token)) ?? (await findNewShare(readModel, catchingUp, token));
  if (!share) throw unknown();
  const folded = await catchingUp.folded(share);
  const lead = await explanations.findLead(share);
  const missing = () => (folded ? unknown() : notYet());
  if (!lead) throw missing();
  if (!isSharedLead(share, lead)) throw unknown();
  switch (statusOf(share, asOf)) {
    case 'revoked':
      throw unknown();
    case 'expired':
      throw new ShareExpired(share.expires_at);
    case 'valid': {
      const explained = await explanations.explain(lead, asOf, share.score_type);
      if (!explained) throw missing();
      const { explanation, level, history, computed_at } = explained;
      return {
        ouId: share.ou_id,
        explanation,
        shared: {
          ...explanation,
          ...(level && { level: { name: level.name, color: level.color } }),
          history,
          computed_at,
          expires_at: share.expires_at,
        },
      };
    }
  }
}

/** @throws ProblemError 503 when the queue of images is full */
async function paintedPreview(
  { paintPreview }: ShareQueryDependencies,
  shared: SharedExplanation,
): Promise<Uint8Array> {
  try {
    return await paintPreview(shared);
  } catch (error) {
    if (!(error instanceof PainterBusy)) throw error;
    throw new ProblemError(
      503,
      'service_unavailable',
      'Too many preview images are requested at present. Try again in a moment.',
      { cause: error, headers: { 'Retry-After': '5' } },
    );
  }
}

const noHash = '0'.repeat(64);

/** The same steps for every token, valid or not: its hash, one look-up by id, one comparison in constant time. */
async function findShare(readModel: ReadModel, token: string): Promise<Share | null> {
  const { share_id, token_hash } = shareFieldsOf(token);
  const found = await withClassifiedErrors(() =>
    readModel.collection(shares).findOne({ _id: uuidToBinary(share_id) }),
  );
  const same = timingSafeEqual(Buffer.from(token_hash), Buffer.from(found?.token_hash ?? noHash));
  return found && same ? toShare(found) : null;
}

/**
 * A notification may arrive before its link is folded. So every unknown token is looked up again once all earlier commands
 * are decided.
 */
async function findNewShare(
  readModel: ReadModel,
  catchingUp: CatchingUp,
  token: string,
): Promise<Share | null> {
  if (!(await catchingUp.decided(shareFieldsOf(token).share_id))) throw notYet();
  return findShare(readModel, token);
}

/** @throws ProblemError 404, both for a lead of another OU and for an unknown one */
async function requireLead(
  explanations: ExplanationReader,
  ou_id: string,
  lead_id: string,
): Promise<FoundLead> {
  const found = await explanations.findLead({ ou_id, lead_id });
  if (!found)
    throw new ProblemError(404, 'lead_not_found', 'No lead of this organizational unit has this id.');
  return found;
}

function shareView(document: ShareDocument, now: Date): routeDeclarations.Share {
  const share = toShare(document);
  const { id, last_four, score_type, created_at, expires_at, created_by } = share;
  return { id, last_four, status: statusOf(share, now), score_type, created_at, expires_at, created_by };
}

function linksOf(appUrl: string, token: string) {
  const encoded = encodeURIComponent(token);
  const json = `${appUrl}/public/score-explain/${encoded}`;
  return {
    page: shareUrlOf(appUrl, token),
    json,
    csv: `${json}/csv`,
    image: `${json}/preview.png`,
  };
}

function unknown(): ProblemError {
  return new ProblemError(
    404,
    'share_not_found',
    'This link is unknown or was revoked. Check that it is complete, or ask its sender for a new one.',
  );
}

function notYet(): ProblemError {
  return new ProblemError(
    503,
    'service_unavailable',
    'The newest links are not visible here yet. Try again in a moment.',
    { headers: { 'Retry-After': '1' } },
  );
}

function pageInstead(error: unknown): RenderedAnswer | null {
  if (error instanceof ShareExpired) return pageAnswer(410, renderExpiredPage(error.expiresAt));
  if (error instanceof ProblemError && error.status === 404) return pageAnswer(404, renderUnknownPage());
  if (isRetriable(error) || (error instanceof ProblemError && error.status === 503))
    return pageAnswer(503, renderUnavailablePage(), { 'Retry-After': '5' });
  return null;
}

function pageAnswer(status: number, html: string, more: Record<string, string> = {}): RenderedAnswer {
  return new RenderedAnswer('text/html; charset=utf-8', html, {
    status,
    headers: { ...pageHeaders, ...more },
  });
}
