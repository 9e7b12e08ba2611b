// Test doubles of the destinations of notifications, on real sockets. They record their requests, check them as the real services
// do, and misbehave on command.
export {
  always,
  failing,
  inTurn,
  startHttpReceiver,
  type Behaviour,
  type HttpReceiver,
  type Reaction,
  type ReceivedRequest,
} from './http-receiver.js';
export {
  startMailServer,
  type MailBehaviour,
  type MailReaction,
  type MailServer,
  type MailStep,
  type ReceivedMail,
} from './mail-server.js';
export { startSlack, type Slack, type SlackCall, type SlackMessage, type SlackReaction } from './slack.js';
export { startTeams, type ReceivedCard, type Teams } from './teams.js';
export { startWebhookReceiver, type ReceivedWebhook, type WebhookReceiver } from './webhook-receiver.js';
