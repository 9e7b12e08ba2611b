// A service's table of contents: what is left out of it does not compile, which `tsc -b` checks by the lines that expect an
// error, and what it names twice or wrongly does not start.
import { expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { defineCollection, type Document } from '@lead-scoring/read-model';
import type { AggregateShape } from './aggregate.js';
import { aggregate } from './aggregate-capability.js';
import type { AggregateStorage } from './aggregate-storage.js';
import type { Capability, OpenCapability } from './capability.js';
import { followingProjection } from './following-projection.js';
import { policy } from './policy.js';
import { projection } from './projection.js';
import { capabilitiesOf } from './service.js';

interface Link extends AggregateShape {
  state: null;
  command:
    | { type: 'CreateShare'; payload: records.CreateShare }
    | { type: 'RevokeShare'; payload: records.RevokeShare };
  event:
    | { type: 'ShareCreated'; payload: records.ShareCreated }
    | { type: 'ShareRevoked'; payload: records.ShareRevoked };
}

const nothingStored: AggregateStorage<null, unknown> = {
  collections: [],
  open: () => {
    throw new Error('nothing is opened in these tests');
  },
};
const commands = { CreateShare: records.createShare, RevokeShare: records.revokeShare };
const events = { ShareCreated: records.shareCreated, ShareRevoked: records.shareRevoked };
const behaviour = {
  name: 'links',
  keyOf: ({ payload }: Link['command'] | Link['event']) => payload.share_id,
  initial: () => null,
  decide: () => ({ outcome: 'done', events: [] }) as const,
  evolve: () => null,
  stored: nothingStored,
};
const decidingNothing: Required<Pick<OpenCapability, 'decide'>> = {
  decide: () => Promise.resolve({ outcome: 'decided', events: [] }),
};
const links = aggregate<Link>({ ...behaviour, commands, events });

test('a service that names all commands and events of its topics reads those commands', () => {
  expect(capabilitiesOf('share', [links])).toMatchObject({
    inputs: { 'share.commands': { CreateShare: 'taken', RevokeShare: 'taken' } },
  });
});

test('a service that leaves out a command, or an event, does not compile', () => {
  const named: Omit<Capability, 'commands' | 'events'> = { ...links };
  const withoutCommand = { ...named, commands: { CreateShare: records.createShare }, events };
  const withoutEvent = { ...named, commands, events: { ShareCreated: records.shareCreated } };
  // @ts-expect-error RevokeShare is taken by none of its capabilities
  capabilitiesOf('share', [withoutCommand]);
  // @ts-expect-error ShareRevoked is written by none of its capabilities
  capabilitiesOf('share', [withoutEvent]);
  // @ts-expect-error nothing is named
  capabilitiesOf('share', []);
});

test('several capabilities may name them together, and an event may be folded by more than one', () => {
  const createdOnly = policy({
    name: 'creations',
    commands: { CreateShare: records.createShare },
    events,
    collections: [],
    open: () => decidingNothing,
  });
  const revokedOnly = policy({
    name: 'revocations',
    commands: { RevokeShare: records.revokeShare },
    events: {},
    collections: [],
    open: () => decidingNothing,
  });
  const counts = projection({
    name: 'counts',
    events,
    collections: [],
    open: () => ({ fold: () => Promise.resolve() }),
  });
  // @ts-expect-error a policy that takes CreateShare alone does not take RevokeShare
  capabilitiesOf('share', [createdOnly, counts]);
  const service = capabilitiesOf('share', [createdOnly, revokedOnly, counts]);
  expect(service.inputs['share.commands']).toEqual({ CreateShare: 'taken', RevokeShare: 'taken' });
});

test('an aggregate that leaves out one of its own commands or events does not compile', () => {
  // @ts-expect-error RevokeShare is missing
  aggregate<Link>({ ...behaviour, commands: { CreateShare: records.createShare }, events });
  // @ts-expect-error ShareRevoked is missing
  aggregate<Link>({ ...behaviour, commands, events: { ShareCreated: records.shareCreated } });
});

test('a policy that leaves out a type of a topic that it reads does not compile', () => {
  const declared = {
    name: 'watching',
    events: {},
    collections: [],
    open: () => decidingNothing,
  };
  policy({
    ...declared,
    reads: {
      'site-analysis.events': {
        SiteAnalysisRequested: 'ignored',
        SiteAnalyzed: 'taken',
        SiteAnalysisFailed: 'ignored',
      },
    },
  });
  policy({
    ...declared,
    // @ts-expect-error the other types of the topic are neither taken nor ignored
    reads: { 'site-analysis.events': { SiteAnalyzed: 'taken' } },
  });
});

test('a command that two capabilities take keeps the service from starting', () => {
  const others = { ...links, name: 'others' };
  expect(() => capabilitiesOf('share', [links, others])).toThrow('links and others both take CreateShare');
});

test('a record of another topic keeps the service from starting', () => {
  const astray = { ...links, events: { ...events, LeadScored: records.leadScored } };
  expect(() => capabilitiesOf('share', [astray])).toThrow(
    'links names LeadScored, which is not a record of share.events',
  );
});

const copies = defineCollection<Document & { partition: number }>({ name: 'copies', indexes: [] });
const copied = followingProjection({
  name: 'share-explanations',
  reads: {
    'site-analysis.events': {
      SiteAnalysisRequested: 'ignored',
      SiteAnalyzed: 'taken',
      SiteAnalysisFailed: 'ignored',
    },
  },
  collections: [copies],
  follow: () => ({ fold: () => Promise.resolve() }),
});

test('a projection that follows another service is stored by the service, and its processor does not read those events', () => {
  const service = capabilitiesOf('share', [links, copied]);
  expect(service.collections).toContain(copies);
  expect(service.followers).toEqual([copied]);
  expect(service.capabilities).toEqual([links]);
  expect(Object.keys(service.inputs)).toEqual(['share.commands']);
});

test('a projection that follows another service under a name that is no declared consumer group keeps the service from starting', () => {
  const undeclared = followingProjection({ ...copied, name: 'share-copies' });
  expect(() => capabilitiesOf('share', [links, undeclared])).toThrow(
    'share-copies is not declared as a projector of share',
  );
});
