// The service's table of contents: its capabilities, their order, their inputs, and that their collections exist.
import { expect, test } from '@jest/globals';
import { notificationCollections, notificationService, type NotificationDependencies } from './service.js';

/** Nothing is opened here, so nothing is needed. */
const nothing = { configuration: {}, firing: {}, delivery: {}, sealing: {} } as NotificationDependencies;
const service = notificationService(nothing);

test('every collection of a capability is created when the service starts', () => {
  expect(notificationCollections).toEqual(expect.arrayContaining([...service.collections]));
});

test('in a batch, configurations decide before resealing', () => {
  expect(service.capabilities.map(({ name }) => name)).toEqual([
    'firing',
    'account-firing',
    'configuration',
    'resealing',
    'delivery',
    'counted-deliveries',
    'jobs',
    'audit-trail',
  ]);
});

test('the service reads its commands, the events of scoring and those of ingest', () => {
  expect(Object.keys(service.inputs).sort()).toEqual([
    'ingest.events',
    'notification.commands',
    'scoring.events',
  ]);
});
