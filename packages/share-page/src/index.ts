// The text forms of a shared explanation: the page, its notices, CSV. Pictures are in `./preview`, which loads more
// modules.
export { formPageHeaders, pageHeaders } from './headers.js';
export { renderCsv } from './render-csv.js';
export {
  renderFirstTokenPage,
  renderInvitationPage,
  type ShownInvitation,
} from './render-invitation-pages.js';
export {
  renderExpiredPage,
  renderTooManyPage,
  renderUnavailablePage,
  renderUnknownPage,
} from './render-notice-pages.js';
export { renderSharePage } from './render-share-page.js';
export type { SharedExplanation } from './shared-explanation.js';
