// The generated rights: consumers get exactly the public topics, services no more than they use.
import { expect, test } from '@jest/globals';
import { consumerAcls, operatorAcls, publicTopics, serviceAcls, type AclBinding } from './acls.js';
import { serviceNames } from './record.js';
import { topics } from './topics.js';

const allowed = (bindings: AclBinding[], operation: AclBinding['operation']) =>
  bindings
    .filter((one) => one.resource === 'topic' && one.operation === operation)
    .map(({ name, pattern }) => (pattern === 'prefixed' ? `${name}*` : name))
    .sort();

test('a consumer reads exactly the topics that are declared public, and writes none', () => {
  const bindings = consumerAcls('live', 'crm', 'crm-');
  const declared = topics.filter(({ audience }) => audience === 'public').map(({ name }) => `live.${name}`);
  expect(allowed(bindings, 'Read')).toEqual(declared.sort());
  expect(new Set(bindings.map(({ operation }) => operation))).toEqual(new Set(['Read']));
  expect(bindings).toContainEqual({
    principal: 'User:crm',
    resource: 'group',
    name: 'crm-',
    pattern: 'prefixed',
    operation: 'Read',
  });
  expect(publicTopics('live')).not.toContain('live.gateway.events');
});

test.each(['live.', 'live.scoring', 'live', 'l', ''])(
  'a consumer’s groups may not begin with %j: the system’s own do',
  (prefix) => {
    expect(() => consumerAcls('live', 'crm', prefix)).toThrow(RangeError);
  },
);

test('no service but the gateway reads or writes identity, and none but it writes others’ events', () => {
  for (const service of serviceNames.filter((name) => name !== 'gateway')) {
    const bindings = serviceAcls('live', service, service);
    for (const operation of ['Read', 'Write'] as const)
      for (const name of allowed(bindings, operation)) expect(name).not.toMatch(/gateway|\*/);
    const events = allowed(bindings, 'Write').filter((name) => name.endsWith('.events'));
    expect(events).toEqual([`live.${service}.events`]);
  }
  const gateway = allowed(serviceAcls('live', 'gateway', 'gateway'), 'Write');
  expect(gateway.filter((name) => name.endsWith('.events'))).toEqual(['live.gateway.events']);
});

test('all names are within the namespace', () => {
  const all = [
    ...serviceNames.flatMap((name) => serviceAcls('live', name, name)),
    ...operatorAcls('live', 'op'),
  ];
  for (const { name } of all) expect(name).toMatch(/^live\./);
});
