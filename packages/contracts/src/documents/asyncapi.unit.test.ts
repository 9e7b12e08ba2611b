// The AsyncAPI document: valid, and complete for the public topics.
import specs from '@asyncapi/specs';
import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { recordsOf } from '../records/index.js';
import { topics } from '../records/topics.js';
import { asyncApiDocument } from './asyncapi.js';

const document = asyncApiDocument({ version: '1.2.3', namespace: 'acme', partitions: 6 });

test("the document is valid by AsyncAPI 3's own schema", () => {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const isValid = ajv.compile(specs.schemas['3.0.0'] as object);
  isValid(JSON.parse(JSON.stringify(document)));
  expect(isValid.errors ?? []).toEqual([]);
});

test('every record of a public topic is described, and beside them only what receivers of webhooks get', () => {
  const open = topics.filter((topic) => topic.audience === 'public').map((topic) => topic.name);
  expect(Object.keys(document.channels)).toEqual([...open, 'webhook']);
  const declared = open.flatMap((name) => recordsOf(name));
  const described = Object.values(document.components.messages) as { name: string; 'x-subject': string }[];
  expect(described.map((message) => message.name)).toEqual(declared.map(({ type }) => type));
  expect(described.map((message) => message['x-subject'])).toEqual(
    declared.map(({ topic, type }) => `acme.${topic}-${type}`),
  );
  for (const name of open) {
    const { messages } = document.channels[name] as { messages: Record<string, { $ref: string }> };
    for (const [type, { $ref }] of Object.entries(messages)) {
      const message = document.components.messages[$ref.replace('#/components/messages/', '')];
      expect(message).toMatchObject({ name: type, 'x-subject': `acme.${name}-${type}` });
    }
  }
});

test('topics are named as they are on the wire', () => {
  expect(document.channels['scoring.events']).toMatchObject({ address: 'acme.scoring.events' });
});

test('every message of an event says whether it is audited, and as what or why not', () => {
  const messages = document.components.messages as Record<string, { 'x-audit'?: object }>;
  expect(messages['RuleUpdated']?.['x-audit']).toEqual({ audited: true, kind: 'rule', action: 'changed' });
  expect(messages['LeadScored']?.['x-audit']).toEqual({ audited: false, reason: expect.any(String) });
  expect(messages['ChannelResealed']?.['x-audit']).toEqual({ audited: false, reason: expect.any(String) });
  const ofTheLog = /(InputsRead|PositionsAccepted|RecordErased)$/;
  for (const [name, message] of Object.entries(messages))
    if (!ofTheLog.test(name))
      expect({ name, audit: message['x-audit'] }).toEqual({ name, audit: expect.anything() });
});
