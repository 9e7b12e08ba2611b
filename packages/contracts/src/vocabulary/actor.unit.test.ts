// Every change that an actor asks for records the actor. A new command or event must carry it or be listed here.
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { recordDeclarations } from '../records/index.js';
import type { RecordDeclaration } from '../records/record.js';
import { actedBy, type Actor } from './actor.js';

/** Commands that services send to each other, and ingested events, whose sender is in the header of their record. */
const askedForByNobody = [
  'IngestEvents',
  'MoveAccountLeads',
  'MoveLeadToAccount',
  'RememberEvents',
  'RequestNotification',
  'RecordAttempt',
  'ForgetLead',
  'ForgetAccount',
  'BeginDelivery',
  'RecordSiteAnalysis',
  'RebuildReadModel',
  'ResealSecrets',
  'ContinueJob',
  'ActivateScoringEpoch',
  'ClearDeletedEvents',
  'SetRecounted',
  'ScheduleDecays',
  'RunDecay',
  'RecordDeal',
  'RecordDealScore',
  'ContributeToAccount',
  'ContributeLead',
  'TellLevel',
  'ForgetDealLead',
];

/** Events that follow from other events and from delivery attempts, not from a request. */
const consequences = [
  'EventsIngested',
  'AliasClaimed',
  'AliasLinked',
  'LeadConflicted',
  'LeadDivided',
  'EventsRemembered',
  'DeletedEventsCleared',
  'EventTypesRecounted',
  'InputsRead',
  'RepeatsDropped',
  'EventsCounted',
  'AliasesRefused',
  'LeadLevelChanged',
  'LeadScored',
  'LeadRemoved',
  'LeadContributed',
  'AccountScored',
  'DealScored',
  'DealLeadRemoved',
  'DealRemoved',
  'DealsIgnored',
  'MilestoneFired',
  'SequenceFired',
  'SurgeFired',
  'TriggerRearmed',
  'TriggerSuppressed',
  'ActivityObserved',
  'LeadForgotten',
  'AccountMilestoneFired',
  'AccountTriggerRearmed',
  'AccountTriggerSuppressed',
  'AccountForgotten',
  'NotificationAttempted',
  'NotificationsForgotten',
  'ChannelPaused',
  'SiteAnalyzed',
  'SiteAnalysisFailed',
  'JobAdvanced',
  'JobEnded',
  'DecaysScheduled',
  'EventScoresDeleted',
  'ScoringEpochActivated',
];

/** The command line writes these events straight to the log, without a credential that could be named. */
const writtenByOperators = ['PositionsAccepted', 'RecordErased'];

const declaresActor = ({ schema }: RecordDeclaration) =>
  schema instanceof z.ZodObject && 'actor' in (schema.shape as object);
const typesWithoutActor = (kind: string) => [
  ...new Set(
    recordDeclarations
      .filter((record) => record.topic.endsWith(kind) && !declaresActor(record))
      .map(({ type }) => type),
  ),
];

describe('every record that somebody asks for has a place for who did', () => {
  test('commands', () => {
    expect(typesWithoutActor('.commands').sort()).toEqual([...askedForByNobody].sort());
  });

  test('events', () => {
    expect(typesWithoutActor('.events').sort()).toEqual([...consequences, ...writtenByOperators].sort());
  });

  test('and for the address of the client', () => {
    const actor = { kind: 'token', id: '7', address: '2001:db8::1' };
    for (const { type, schema } of recordDeclarations.filter(declaresActor)) {
      const place = (schema as z.ZodObject<{ actor: z.ZodType }>).shape.actor;
      expect({ type, takes: place.safeParse(actor).success }).toEqual({ type, takes: true });
    }
  });

  test('a record that was written before there was one is read all the same', () => {
    for (const { type, schema } of recordDeclarations.filter(declaresActor)) {
      const place = (schema as z.ZodObject<{ actor: z.ZodType }>).shape.actor;
      expect({ type, absent: place.safeParse(undefined).success }).toEqual({ type, absent: true });
    }
  });
});

test('events say who asked for them, and nothing where the command does not', () => {
  const events: { type: string; payload: { at: string; actor?: Actor } }[] = [
    { type: 'RuleCreated', payload: { at: 'now' } },
  ];
  const actor = { kind: 'token', id: '7', name: 'Ada' } as const;
  expect(actedBy(events, { actor })).toEqual([{ type: 'RuleCreated', payload: { at: 'now', actor } }]);
  expect(actedBy(events, {})).toEqual(events);
});
