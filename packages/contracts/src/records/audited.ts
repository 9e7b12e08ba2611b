// Which events are audited, as changes of which things, and why the others are not. GET /audit and the AsyncAPI document are made from it.
import { z } from 'zod';
import { recordDeclarations, type DeclaredOn } from './index.js';
import type { RecordDeclaration, ServiceName } from './record.js';

/** The kinds of things whose changes are audited. */
export const changeKind = z.enum([
  'organisation',
  'org_unit',
  'member',
  'token',
  'service_account',
  'ruleset',
  'rule',
  'levels',
  'grid',
  'roll_up',
  'mapping',
  'decay',
  'filter',
  'challenger',
  'channel',
  'trigger',
  'event_type',
  'lead',
  'account',
  'share',
  'job',
]);
export type ChangeKind = z.infer<typeof changeKind>;

export const changeAction = z.enum([
  'created',
  'changed',
  'deleted',
  'ended',
  'revoked',
  'rotated',
  'invited',
  'joined',
  'merged',
  'unmerged',
  'reset',
  'started',
  'cancelled',
  'resumed',
]);
export type ChangeAction = z.infer<typeof changeAction>;

/** An event that changes a thing. */
export interface AuditedEvent {
  readonly kind: ChangeKind;
  /** null: the event changes how the thing is written down, and not the thing: it makes no entry. */
  readonly action: ChangeAction | null;
}

/** An event that is not audited, with the reason as the documentation shows it. */
export interface UnauditedEvent {
  readonly unaudited: string;
}

/** Every type of event that a service writes: a type that is left out does not compile. */
type AuditTable<Service extends ServiceName> = {
  readonly [Type in DeclaredOn<`${Service}.events`>['type']]: AuditedEvent | UnauditedEvent;
};

const change = <const Kind extends ChangeKind, const Action extends ChangeAction | null>(
  kind: Kind,
  action: Action,
) => ({ kind, action });
const unaudited = (reason: string) => ({ unaudited: reason });

const data = unaudited('Events of leads are data, and no configuration.');
const followsMerge = unaudited('It follows from an event, or from a merge that has an entry.');
const followsStart = unaudited('It follows from the start of a job.');
const followsJob = unaudited('It follows from a job that has an entry.');
const decided = unaudited('It follows from events of leads and rules, whose changes are audited.');
const followsDeletion = unaudited('It follows from the deletion of a lead, which ingest has an entry of.');
const fired = unaudited('It follows from a score and a trigger, whose definition is audited.');
const delivered = unaudited('GET /deliveries has what was sent, and what was sent again.');
const analysed = unaudited('An analysis reads a website and changes nothing.');

/** For each service every type of event that it writes. */
export const auditTables = {
  gateway: {
    OrganisationCreated: change('organisation', 'created'),
    OrgUnitCreated: change('org_unit', 'created'),
    OrgUnitRenamed: change('org_unit', 'changed'),
    OrgUnitEnded: change('org_unit', 'ended'),
    ActiveOrgUnitSet: unaudited(
      'A credential chooses the unit in which its own next calls work; nothing is changed for others.',
    ),
    OrgUnitGranted: change('token', 'changed'),
    OrgUnitWithdrawn: change('token', 'changed'),
    TokenCreated: change('token', 'created'),
    TokenRevoked: change('token', 'revoked'),
    ServiceAccountCreated: change('service_account', 'created'),
    ServiceAccountSecretRotated: change('service_account', 'rotated'),
    CredentialLimited: change('token', 'changed'),
    OrganisationLimited: change('organisation', 'changed'),
    ServiceAccountRevoked: change('service_account', 'revoked'),
    MemberAdded: change('member', 'created'),
    MemberChanged: change('member', 'changed'),
    MemberInvited: change('member', 'invited'),
    MemberJoined: change('member', 'joined'),
    MemberRemoved: change('member', 'deleted'),
    QuotaNearlyUsed: unaudited('It follows from calls and from a quota, whose changes are audited.'),
  },
  ingest: {
    EventsIngested: data,
    EventsCounted: data,
    AliasClaimed: followsMerge,
    AliasLinked: followsMerge,
    LeadDeleted: change('lead', 'deleted'),
    LeadMetadataPatched: change('lead', 'changed'),
    EventsRemembered: unaudited('It follows from a deletion that has an entry.'),
    RepeatsDropped: data,
    AliasesRefused: data,
    EventTypeVisibilityChanged: change('event_type', 'changed'),
    JobStarted: change('job', 'started'),
    JobAdvanced: followsStart,
    JobEnded: followsStart,
    JobCancelled: change('job', 'cancelled'),
    EventsOfTypeDeleted: followsJob,
    DeletedEventsCleared: followsJob,
    RecountBegun: followsJob,
    EventTypesRecounted: followsJob,
    AliasUnlinked: change('lead', 'unmerged'),
    LeadConflicted: unaudited('It follows from an event.'),
    LeadDivided: unaudited('It follows from the end of a merge that has an entry.'),
  },
  scoring: {
    RulesetCreated: change('ruleset', 'created'),
    RulesetUpdated: change('ruleset', 'changed'),
    RulesetDeleted: change('ruleset', 'deleted'),
    RuleCreated: change('rule', 'created'),
    RuleUpdated: change('rule', 'changed'),
    RuleDeleted: change('rule', 'deleted'),
    RulesActivationChanged: change('rule', 'changed'),
    ProfileRuleCreated: change('rule', 'created'),
    ProfileRuleUpdated: change('rule', 'changed'),
    ProfileRulesActivationChanged: change('rule', 'changed'),
    AccountRuleCreated: change('rule', 'created'),
    AccountRuleUpdated: change('rule', 'changed'),
    AccountRulesActivationChanged: change('rule', 'changed'),
    DealRuleCreated: change('rule', 'created'),
    DealRuleUpdated: change('rule', 'changed'),
    EngagementLevelsSet: change('levels', 'changed'),
    ProfileLevelsSet: change('levels', 'changed'),
    AccountLevelsSet: change('levels', 'changed'),
    ScoringGridSet: change('grid', 'changed'),
    AccountRollUpSet: change('roll_up', 'changed'),
    FilterCreated: change('filter', 'created'),
    FilterUpdated: change('filter', 'changed'),
    FilterDeleted: change('filter', 'deleted'),
    DecayCreated: change('decay', 'created'),
    DecayUpdated: change('decay', 'changed'),
    DecayDeleted: change('decay', 'deleted'),
    ProfileMappingAdded: change('mapping', 'created'),
    ProfileMappingRemoved: change('mapping', 'deleted'),
    ChallengerStarted: change('challenger', 'created'),
    ChallengerEnded: change('challenger', 'ended'),
    AccountsMerged: change('account', 'merged'),
    ScoreAdjusted: change('lead', 'reset'),
    LeadScored: decided,
    LeadLevelChanged: decided,
    LeadRemoved: followsDeletion,
    DealScored: decided,
    DealLeadRemoved: decided,
    DealRemoved: decided,
    DealsIgnored: decided,
    LeadContributed: decided,
    AccountScored: decided,
    DecaysScheduled: decided,
    EventScoresDeleted: unaudited('It follows from the deletion of events, which ingest has an entry of.'),
    ScoringEpochActivated: followsJob,
    JobStarted: change('job', 'started'),
    JobAdvanced: followsStart,
    JobEnded: followsStart,
    JobCancelled: change('job', 'cancelled'),
  },
  notification: {
    ChannelCreated: change('channel', 'created'),
    ChannelReplaced: change('channel', 'changed'),
    ChannelSecretRotated: change('channel', 'rotated'),
    ChannelResealed: change('channel', null),
    ChannelDeleted: change('channel', 'deleted'),
    ChannelPaused: unaudited('It follows from deliveries that failed.'),
    ChannelResumed: change('channel', 'resumed'),
    TriggerCreated: change('trigger', 'created'),
    TriggerReplaced: change('trigger', 'changed'),
    TriggerDeleted: change('trigger', 'deleted'),
    MilestoneFired: fired,
    SequenceFired: fired,
    SurgeFired: fired,
    TriggerRearmed: fired,
    TriggerSuppressed: fired,
    ActivityObserved: fired,
    LeadForgotten: followsDeletion,
    AccountMilestoneFired: fired,
    AccountTriggerRearmed: fired,
    AccountTriggerSuppressed: fired,
    AccountForgotten: fired,
    NotificationRequested: delivered,
    NotificationAttempted: delivered,
    NotificationsRedelivered: delivered,
    NotificationsForgotten: followsDeletion,
    JobStarted: change('job', 'started'),
    JobAdvanced: followsStart,
    JobEnded: followsStart,
    JobCancelled: change('job', 'cancelled'),
  },
  share: {
    ShareCreated: change('share', 'created'),
    ShareRevoked: change('share', 'revoked'),
  },
  'site-analysis': {
    SiteAnalysisRequested: analysed,
    SiteAnalyzed: analysed,
    SiteAnalysisFailed: analysed,
  },
} as const satisfies { [Service in ServiceName]: AuditTable<Service> };

/** The services that have an audit trail of their own events, in alphabetical order. */
export const auditedServices = ['gateway', 'ingest', 'notification', 'scoring', 'share'] as const;
export type AuditedService = (typeof auditedServices)[number];

type Tables = typeof auditTables;
/** The types of a service's audited events. */
export type AuditedType<Service extends AuditedService> = {
  [Type in keyof Tables[Service]]: Tables[Service][Type] extends AuditedEvent ? Type : never;
}[keyof Tables[Service]] &
  string;

/** How the events of a record's type are audited; undefined for other records. */
export function auditOf({
  topic,
  type,
}: Pick<RecordDeclaration, 'topic' | 'type'>): AuditedEvent | UnauditedEvent | undefined {
  const tables: Readonly<Record<string, Readonly<Record<string, AuditedEvent | UnauditedEvent>>>> =
    auditTables;
  const table = topic.endsWith('.events') ? tables[topic.slice(0, -'.events'.length)] : undefined;
  return table && Object.hasOwn(table, type) ? table[type] : undefined;
}

/** The declarations of the audited events of a service. */
export function auditedRecords(service: AuditedService): readonly RecordDeclaration[] {
  return recordDeclarations.filter((record) => {
    const audit = record.topic === `${service}.events` ? auditOf(record) : undefined;
    return audit !== undefined && !('unaudited' in audit);
  });
}
