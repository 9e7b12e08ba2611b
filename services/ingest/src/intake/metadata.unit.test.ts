// What is set for leads, in the model's partitions, decided in any order and with any batches: no patch is lost or doubled, and a merge that is
// taken back leaves each lead with its own.
import { describe, expect, test } from '@jest/globals';
import {
  metadataInForce,
  noMetadata,
  patchedMetadata,
  type JsonObject,
  type records,
} from '@lead-scoring/contracts';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { ingest, leadOf } from '../testing/builders.js';
import { evolveAllMetadata, Model } from '../testing/model.js';
import { decideIntake } from './decide.js';
import type { IntakeCommand } from './messages.js';
import type { KnownMetadata, LookedUpAliases } from './state.js';
import { ouId } from '../testing/builders.js';

const names = ['a', 'b', 'c', 'cookie:1'];
const partitionCount = 3;
const name = fc.constantFrom(...names);
const settled = fc.boolean();

const sending = fc.record({
  do: fc.constant('send' as const),
  aliases: fc.uniqueArray(name, { minLength: 1, maxLength: 2 }),
});
const step = fc.record({
  do: fc.constant('step' as const),
  partition: fc.nat(partitionCount - 1),
  size: fc.integer({ min: 1, max: 5 }),
});
const restart = fc.record({ do: fc.constant('restart' as const), partition: fc.nat(partitionCount - 1) });
const merging = fc.oneof(
  fc.record({ do: fc.constant('merge' as const), source: name, target: name, settled }),
  fc.record({ do: fc.constant('unmerge' as const), source: name, settled }),
);
const patching = fc.record({ do: fc.constant('patch' as const), name, settled });
const anyAction = fc.oneof(
  { weight: 3, arbitrary: sending },
  { weight: 4, arbitrary: step },
  { weight: 1, arbitrary: restart },
  { weight: 3, arbitrary: merging },
  { weight: 3, arbitrary: patching },
);
const deletion = fc.record({ do: fc.constant('delete' as const), name });
const anyActionWithDeletions = fc.oneof(
  { weight: 10, arbitrary: anyAction },
  { weight: 1, arbitrary: deletion },
);
type Action = typeof anyActionWithDeletions extends fc.Arbitrary<infer One> ? One : never;

/** Each patch sets a key of its own: its number. @returns the model, and the ids of the patches by their keys */
function run(actions: readonly Action[]): { model: Model; keys: Map<string, string> } {
  const model = new Model(partitionCount);
  const keys = new Map<string, string>();
  for (const [index, one] of actions.entries()) {
    if ('settled' in one && one.settled) model.drain();
    switch (one.do) {
      case 'send':
        model.send({ aliases: one.aliases, event_id: String(index) });
        break;
      case 'step':
      case 'restart': {
        const partition = model.partitions[one.partition];
        if (!partition) throw new Error('no such partition');
        if (one.do === 'step') model.step(partition, one.size);
        else model.restart(partition);
        break;
      }
      case 'merge':
        model.merge(one.source, one.target);
        break;
      case 'unmerge':
        model.unmerge(one.source);
        break;
      case 'delete':
        model.delete(one.name);
        break;
      case 'patch':
        keys.set(`key ${String(index)}`, model.patch(one.name, { [`key ${String(index)}`]: index }));
    }
  }
  model.drain();
  return { model, keys };
}

/** What is in force for each lead. */
function inForce(model: Model): [string, JsonObject][] {
  return names.map((one) => [one, metadataInForce(model.metadataOf(leadOf(one)) ?? noMetadata)]);
}

/** What a reader of the public topic knows: it drops ended leads, and what is said of leads that it does not know. */
function readBy(model: Model): Map<string, JsonObject> {
  const known = new Map<string, JsonObject>();
  for (const { log } of model.partitions)
    for (const { type, payload } of log)
      if (type === 'LeadDeleted') known.delete(payload.lead_id);
      else if (type === 'EventsIngested') known.set(payload.lead_id, known.get(payload.lead_id) ?? {});
      else if (type === 'LeadMetadataPatched' && known.has(payload.lead_id))
        known.set(payload.lead_id, payload.metadata);
  return known;
}

const manyRuns = { numRuns: Math.max(2_000, lawRuns) };

describe('any interleaving of partitions, batches, merges, their undoing and crashes', () => {
  test('every patch that was answered is in force at exactly one lead, and each was answered once', () => {
    let done = 0;
    fc.assert(
      fc.property(fc.array(anyAction, { minLength: 20, maxLength: 80 }), (actions) => {
        const { model, keys } = run(actions);
        const set = inForce(model).flatMap(([, metadata]) => Object.keys(metadata));
        const answered = [...keys].filter(([, id]) => {
          const answers = model.patched.get(id) ?? [];
          expect(answers).toHaveLength(1);
          return answers[0]?.outcome === 'done';
        });
        done += answered.length;
        expect(set.sort()).toEqual(answered.map(([key]) => key).sort());
      }),
      manyRuns,
    );
    expect(done).toBeGreaterThan(manyRuns.numRuns);
  });

  test('a reader of the public records knows what is set for each lead', () => {
    fc.assert(
      fc.property(fc.array(anyActionWithDeletions, { minLength: 20, maxLength: 80 }), (actions) => {
        const { model } = run(actions);
        const known = readBy(model);
        for (const [one, metadata] of inForce(model)) {
          const exists = model.recordsOf(leadOf(one)).length > 0;
          expect([one, known.get(leadOf(one))]).toEqual([one, exists ? metadata : undefined]);
          if (!exists) expect(metadata).toEqual({});
        }
      }),
      manyRuns,
    );
  });

  test('a patch that comes while a division ends is known to readers of the public records', () => {
    const model = new Model(partitionCount);
    const step = (of: string, size: number) => {
      model.step(model.partitionOf(leadOf(of)), size);
    };
    model.send({ aliases: ['c', 'cookie:1'], event_id: '1' });
    model.drain();
    model.unmerge('cookie:1');
    step('cookie:1', 1);
    step('c', 1);
    model.patch('c', { owner: 'somebody' });
    // The command that sends the events of the divided lead again, and the patch.
    step('c', 2);
    model.drain();
    expect(readBy(model).get(leadOf('c'))).toEqual({ owner: 'somebody' });
    expect(new Map(inForce(model)).get('c')).toEqual({ owner: 'somebody' });
  });

  test('folding the records again, or each twice, gives the same', () => {
    fc.assert(
      fc.property(fc.array(anyActionWithDeletions, { maxLength: 60 }), (actions) => {
        const { model } = run(actions);
        for (const { log, metadata } of model.partitions) {
          const replayed = new Map<string, KnownMetadata>();
          for (const event of log) evolveAllMetadata(replayed, event);
          expect(replayed).toEqual(metadata);
        }
      }),
    );
  });

  test('once all merges are taken back, each lead has what was set for it, and for no other', () => {
    const anything = fc.oneof(
      { weight: 2, arbitrary: sending },
      { weight: 2, arbitrary: merging },
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('patch' as const),
          name,
          patch: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom(null, 1, 2), { minKeys: 1 }),
        }),
      },
    );
    fc.assert(
      fc.property(fc.array(anything, { minLength: 10, maxLength: 50 }), (actions) => {
        const model = new Model(partitionCount);
        const own = new Map<string, JsonObject>();
        for (const [index, one] of actions.entries()) {
          if (one.do === 'send') model.send({ aliases: one.aliases, event_id: String(index) });
          else if (one.do === 'merge') model.merge(one.source, one.target);
          else if (one.do === 'unmerge') model.unmerge(one.source);
          else {
            const id = model.patch(one.name, one.patch);
            model.drain();
            const lead = model.patched.get(id)?.[0]?.lead_id;
            if (lead !== undefined) {
              expect(lead).toBe(model.destinationOf(leadOf(one.name)));
              own.set(lead, patchedMetadata(own.get(lead) ?? {}, one.patch));
            }
          }
          model.drain();
        }
        for (let round = 0; round < 2 * names.length; round += 1)
          for (const one of names) {
            model.unmerge(one);
            model.drain();
          }
        for (const [one, metadata] of inForce(model))
          expect([one, metadata]).toEqual([one, own.get(leadOf(one)) ?? {}]);
      }),
      manyRuns,
    );
  });
});

const patch = (
  patch_id: string,
  what: JsonObject,
): Extract<IntakeCommand, { type: 'PatchLeadMetadata' }> => ({
  type: 'PatchLeadMetadata',
  payload: {
    ou_id: ouId,
    lead_id: leadOf('a'),
    patch_id,
    patch: what,
    requested_at: '2026-01-01T12:00:00.000Z',
  },
});

const looked: LookedUpAliases = {
  ...{ redirects: new Map(), claims: new Map(), counts: new Map(), visitors: new Set(), leads: new Map() },
  ...{ deletions: new Map(), keptSince: new Set(), eventful: new Map(), metadata: new Map() },
};

const decided = (commands: IntakeCommand[], known: Partial<LookedUpAliases> = {}) =>
  decideIntake(commands, { ...looked, ...known }, new Map());

const ids = ['1', '2'].map((one) => `00000000-0000-4000-8000-00000000000${one}`) as [string, string];

describe('a patch', () => {
  const exists = { eventful: new Map([[leadOf('a'), ouId]]) };
  const answers = (commands: IntakeCommand[], known: Partial<LookedUpAliases>) =>
    decided(commands, known).replies.map(({ reply }) => reply);
  const recorded = (commands: IntakeCommand[], known: Partial<LookedUpAliases>) =>
    decided(commands, known).events.flatMap(({ type, payload }): records.LeadMetadataPatched[] =>
      type === 'LeadMetadataPatched' ? [payload] : [],
    );

  test('is answered with all that is set for the lead, and records itself and what is set', () => {
    const commands = [
      patch(ids[0], { title: 'CTO', 'a.b $c': { x: null, y: 1 } }),
      patch(ids[1], { title: null }),
    ];
    expect(answers(commands, exists)).toEqual([
      { outcome: 'done', result: { lead_id: leadOf('a'), metadata: { title: 'CTO', 'a.b $c': { y: 1 } } } },
      { outcome: 'done', result: { lead_id: leadOf('a'), metadata: { 'a.b $c': { y: 1 } } } },
    ]);
    expect(recorded(commands, exists)).toMatchObject([
      { patch_id: ids[0], patch: { title: 'CTO' }, metadata: { title: 'CTO' } },
      { patch_id: ids[1], patch: { title: null }, metadata: { 'a.b $c': { y: 1 } } },
    ]);
  });

  test('that comes again, or changes nothing, records nothing, and is answered with what is set now', () => {
    const set = { own: { title: 'CTO' }, joined: [], patches: [ids[0]], patched_at: '' };
    const known = { ...exists, metadata: new Map([[leadOf('a'), set]]) };
    for (const again of [patch(ids[0], { title: 'VP' }), patch(ids[1], { title: 'CTO', gone: null })]) {
      expect(recorded([again], known)).toEqual([]);
      expect(answers([again], known)).toMatchObject([{ result: { metadata: { title: 'CTO' } } }]);
    }
  });

  test('of a lead that is not there, or is of another organizational unit, is refused', () => {
    const another = { eventful: new Map([[leadOf('a'), '33333333-3333-4333-8333-333333333333']]) };
    for (const known of [{}, another])
      expect(answers([patch(ids[0], { title: 'CTO' })], known)).toMatchObject([{ code: 'lead_not_found' }]);
  });

  test('follows the events of its batch on the log', () => {
    const commands = [patch(ids[0], { title: 'CTO' }), ingest([{ aliases: ['a'] }])];
    expect(decided(commands, exists).events.map(({ type }) => type)).toEqual([
      'EventsIngested',
      'LeadMetadataPatched',
    ]);
  });

  test('beyond the limit of a lead is refused, with what to do, and leaves what is set', () => {
    const set = { own: { long: 'x'.repeat(60_000) }, joined: [], patches: [], patched_at: '' };
    const known = { ...exists, metadata: new Map([[leadOf('a'), set]]) };
    const tooMuch = [patch(ids[0], { more: 'y'.repeat(60_000) })];
    expect(answers(tooMuch, known)).toMatchObject([{ code: 'limit_reached' }]);
    expect(recorded(tooMuch, known)).toEqual([]);
    expect(answers([patch(ids[1], { long: null, more: 'y'.repeat(60_000) })], known)).toMatchObject([
      { outcome: 'done' },
    ]);
  });
});
