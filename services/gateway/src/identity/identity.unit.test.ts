// Identity: given events, when a command, then events and an answer; and laws for any sequence of commands.
import { describe, expect, test } from '@jest/globals';
import { isProblemCode } from '@lead-scoring/contracts';
import fc from 'fast-check';
import {
  addMember,
  admit,
  at,
  bootstrap,
  changeMember,
  createOrgUnit,
  createServiceAccount,
  createToken,
  endOrgUnit,
  hashOf,
  idOf,
  inviteMember,
  join,
  limitCredential,
  limitOrganisation,
  organisationId,
  removeMember,
  renameOrgUnit,
  revokeServiceAccount,
  revokeToken,
  rotate,
  setActive,
} from '../testing/builders.js';
import { decide } from './decide.js';
import { identityLimits, type IdentityDecision } from './decision-model.js';
import { documentsOf } from './documents.js';
import type { IdentityCommand, IdentityEvent } from './messages.js';
import { evolve } from './evolve.js';
import { evolveGuarded, isFolded, type GuardedOrganisation } from './organisation-storage.js';
import { emptyOrganisation, usableUnits, workingUnit, type OrganisationState } from './state.js';

function after(...commands: IdentityCommand[]): OrganisationState {
  return eventsOf(commands).reduce(evolve, emptyOrganisation);
}

function eventsOf(commands: readonly IdentityCommand[]): IdentityEvent[] {
  const events: IdentityEvent[] = [];
  let state = emptyOrganisation;
  for (const command of commands) {
    const decision = decide(command, state);
    if (decision.outcome === 'rejected') continue;
    state = decision.events.reduce(evolve, state);
    events.push(...decision.events);
  }
  return events;
}

const codeOf = (decision: IdentityDecision) =>
  decision.outcome === 'rejected' ? decision.code : decision.events.map(({ type }) => type);

describe('organisations', () => {
  test('bootstrap creates organisation, OU and administrator; the second time, nothing', () => {
    expect(codeOf(decide(bootstrap(), emptyOrganisation))).toEqual([
      'OrganisationCreated',
      'OrgUnitCreated',
      'TokenCreated',
      'ActiveOrgUnitSet',
    ]);
    expect(after(bootstrap()).credentials.get(idOf('root'))?.active_ou_id).toBe(idOf('main'));
    expect(codeOf(decide(bootstrap(), after(bootstrap())))).toEqual([]);
  });

  test('bootstrap with another token adds it; one that was ended stays ended', () => {
    const state = after(bootstrap(), createToken('other', { role: 'admin', ou_ids: null }));
    const ended = [decide(revokeToken('root', { requested_by: idOf('other') }), state)].flatMap((decision) =>
      decision.outcome === 'done' ? decision.events : [],
    );
    const without = ended.reduce(evolve, state);
    expect(codeOf(decide(bootstrap(), without))).toEqual([]);
    const replaced = bootstrap({ token_id: idOf('new'), token_hash: hashOf('new') });
    expect(codeOf(decide(replaced, without))).toEqual(['TokenCreated', 'ActiveOrgUnitSet']);
  });

  test('an OU’s name is unique, in any spelling', () => {
    expect(codeOf(decide(createOrgUnit('MAIN'), after(bootstrap())))).toBe('duplicate_name');
    expect(codeOf(decide(createOrgUnit('Main 2'), after(bootstrap())))).toEqual(['OrgUnitCreated']);
  });

  test('when a second OU is created, every credential stays active in the first', () => {
    const given = after(
      bootstrap(),
      createToken('everywhere', { ou_ids: null, role: 'admin' }),
      createToken('limited', { role: 'admin' }),
      createToken('other', { role: 'admin' }),
      createOrgUnit('by limited', { created_by: idOf('limited') }),
    );
    const credential = (name: string) => given.credentials.get(idOf(name));
    expect(credential('everywhere')).toMatchObject({ ou_ids: null, active_ou_id: idOf('main') });
    expect(credential('limited')).toMatchObject({
      ou_ids: [idOf('main'), idOf('by limited')],
      active_ou_id: idOf('main'),
    });
    expect(credential('other')).toMatchObject({ ou_ids: [idOf('main')], active_ou_id: null });
    expect(codeOf(decide(createOrgUnit('third'), given))).toEqual(['OrgUnitCreated']);
  });

  test('a new name is unique at once, and the old one is free', () => {
    const given = after(bootstrap(), createOrgUnit('second'));
    expect(codeOf(decide(renameOrgUnit('second', 'main'), given))).toBe('duplicate_name');
    expect(codeOf(decide(renameOrgUnit('second', 'SECOND'), given))).toEqual(['OrgUnitRenamed']);
    expect(codeOf(decide(renameOrgUnit('second', 'second'), given))).toEqual([]);
    expect(codeOf(decide(renameOrgUnit('nowhere', 'x'), given))).toBe('org_unit_not_found');
    const renamed = decide(renameOrgUnit('main', 'First'), given);
    expect(renamed).toMatchObject({ result: { id: idOf('main'), name: 'First', active: true } });
    const then = after(bootstrap(), createOrgUnit('second'), renameOrgUnit('main', 'First'));
    expect(codeOf(decide(createOrgUnit('Main'), then))).toEqual(['OrgUnitCreated']);
    expect(codeOf(decide(createOrgUnit('first'), then))).toBe('duplicate_name');
    // A start with the old name creates no second OU.
    expect(codeOf(decide(bootstrap(), then))).toEqual([]);
  });

  test('an OU that ends ends the credentials that could use no other, and its name is free', () => {
    const both = [idOf('main'), idOf('second')];
    const given = after(
      bootstrap(),
      createOrgUnit('second'),
      createToken('of second', { ou_ids: [idOf('second')] }),
      createServiceAccount('account of second', { ou_ids: [idOf('second')] }),
      createToken('of both', { ou_ids: both, role: 'admin' }),
      createToken('of main'),
      setActive('of both', 'second'),
      setActive('root', 'second'),
    );
    const ending = decide(endOrgUnit('second'), given);
    expect(codeOf(ending)).toEqual([
      'OrgUnitEnded',
      'TokenRevoked',
      'ServiceAccountRevoked',
      'OrgUnitWithdrawn',
    ]);
    const ended = ending.outcome === 'done' ? ending.events.reduce(evolve, given) : given;
    const credential = (name: string) => ended.credentials.get(idOf(name));
    expect(credential('of second')?.revoked).toBeTruthy();
    expect(credential('account of second')?.revoked).toBeTruthy();
    expect(credential('of both')).toMatchObject({ ou_ids: [idOf('main')], revoked: null });
    expect(credential('of main')).toEqual(given.credentials.get(idOf('of main')));
    expect(credential('root')).toMatchObject({ ou_ids: null, active_ou_id: idOf('second') });
    expect(codeOf(decide(setActive('root', 'second'), ended))).toBe('org_unit_not_found');
    expect(codeOf(decide(renameOrgUnit('second', 'x'), ended))).toBe('org_unit_not_found');
    expect(codeOf(decide(createToken('t', { ou_ids: [idOf('second')] }), ended))).toBe('org_unit_not_found');
    expect(codeOf(decide(endOrgUnit('second', {}, 'another end'), ended))).toBe('org_unit_not_found');
    expect(codeOf(decide(endOrgUnit('second'), ended))).toEqual([]);
    const other = { ...createOrgUnit('second', { ou_id: idOf('third') }), id: idOf('third') };
    expect(codeOf(decide(other, ended))).toEqual(['OrgUnitCreated']);
  });

  test('the last OU of the organisation, or of the credential that asks, cannot be ended', () => {
    expect(codeOf(decide(endOrgUnit('main'), after(bootstrap())))).toBe('last_org_unit');
    const given = after(
      bootstrap(),
      createOrgUnit('second'),
      createToken('of main', { role: 'admin' }),
      createToken('of both', { role: 'admin', ou_ids: [idOf('main'), idOf('second')] }),
    );
    const by = (name: string) => ({ requested_by: idOf(name) });
    expect(codeOf(decide(endOrgUnit('main', by('of main')), given))).toBe('last_org_unit');
    expect(codeOf(decide(endOrgUnit('second', by('of main')), given))).toBe('org_unit_not_found');
    expect(codeOf(decide(renameOrgUnit('second', 'x', by('of main')), given))).toBe('org_unit_not_found');
    expect(codeOf(decide(endOrgUnit('main', by('of both')), given))).toEqual([
      'OrgUnitEnded',
      'TokenRevoked',
      'OrgUnitWithdrawn',
    ]);
  });

  test('a first OU that was ended is not created again at the next start', () => {
    const ended = after(bootstrap(), createOrgUnit('second'), endOrgUnit('main'));
    expect(codeOf(decide(bootstrap(), ended))).toEqual([]);
    const otherToken = bootstrap({ token_id: idOf('new'), token_hash: hashOf('new') });
    expect(codeOf(decide(otherToken, ended))).toEqual(['TokenCreated']);
  });

  test('OUs, tokens and service accounts have limits; ended ones do not count', () => {
    const units = Array.from({ length: identityLimits.orgUnits }, (_, n) =>
      createOrgUnit(`unit ${String(n)}`),
    );
    const tokens = Array.from({ length: identityLimits.tokens - 1 }, (_, n) =>
      createToken(`token ${String(n)}`),
    );
    const accounts = Array.from({ length: identityLimits.serviceAccounts }, (_, n) =>
      createServiceAccount(`account ${String(n)}`),
    );
    const full = after(bootstrap(), ...units, ...tokens, ...accounts);
    expect(codeOf(decide(createOrgUnit('more'), full))).toBe('limit_reached');
    expect(codeOf(decide(createToken('more'), full))).toBe('limit_reached');
    expect(codeOf(decide(createServiceAccount('more'), full))).toBe('limit_reached');
    const fewer = decide(endOrgUnit('unit 1'), full);
    const room1 = fewer.outcome === 'done' ? fewer.events.reduce(evolve, full) : full;
    expect(codeOf(decide(createOrgUnit('more'), room1))).toEqual(['OrgUnitCreated']);
    const room = decide(revokeToken('token 1'), full);
    const roomy = room.outcome === 'done' ? room.events.reduce(evolve, full) : full;
    expect(codeOf(decide(createToken('more'), roomy))).toEqual(['TokenCreated']);
  });
});

describe('credentials', () => {
  const given = after(
    bootstrap(),
    createOrgUnit('second'),
    createToken('admin of main', { role: 'admin' }),
    createToken('editor'),
    createServiceAccount('account', { scopes: ['ingest', 'admin'] }),
  );

  test.each<[string, IdentityCommand, string | string[]]>([
    ['an unknown OU', createToken('t', { ou_ids: [idOf('nowhere')] }), 'org_unit_not_found'],
    [
      'an OU that the creator may not use',
      createToken('t', { created_by: idOf('admin of main'), ou_ids: [idOf('second')] }),
      'org_unit_not_found',
    ],
    [
      'every OU, from a creator that is limited to some',
      createToken('t', { created_by: idOf('admin of main'), ou_ids: null }),
      'org_unit_not_allowed',
    ],
    [
      'a token of a service account, which is no member',
      createToken('t', { created_by: idOf('account'), role: 'viewer' }),
      'scope_not_allowed',
    ],
    [
      'a role that its creator does not have',
      createToken('t', { created_by: idOf('editor'), role: 'admin' }),
      'role_not_allowed',
    ],
    [
      'scopes that its creator does not have',
      createServiceAccount('t', { created_by: idOf('editor'), scopes: ['admin'] }),
      'role_not_allowed',
    ],
    ['an unknown creator', createToken('t', { created_by: idOf('nobody') }), 'credential_invalid'],
    ['an expiry in the past', createToken('t', { expires_at: at }), 'invalid_request'],
    [
      'the rights of its creator',
      createServiceAccount('t', { created_by: idOf('account'), scopes: ['ingest'] }),
      ['ServiceAccountCreated'],
    ],
  ])('%s', (_title, command, expected) => {
    expect(codeOf(decide(command, given))).toEqual(expected);
  });

  test.each<[string, IdentityCommand, string | string[]]>([
    ['the administrator of every OU ends any', revokeToken('editor'), ['TokenRevoked']],
    [
      'an administrator of an OU ends those of the OU',
      revokeToken('editor', { requested_by: idOf('admin of main') }),
      ['TokenRevoked'],
    ],
    [
      'but not those of further OUs',
      revokeToken('root', { requested_by: idOf('admin of main') }),
      'token_not_found',
    ],
    ['nor from another OU', revokeToken('editor', { ou_id: idOf('second') }), 'token_not_found'],
    ['a token is no service account', revokeToken('account'), 'token_not_found'],
    ['an unknown service account', revokeServiceAccount('nothing'), 'service_account_not_found'],
  ])('ending: %s', (_title, command, expected) => {
    expect(codeOf(decide(command, given))).toEqual(expected);
  });

  test('no credential gives another one a higher limit than its own, also not by leaving the limit out', () => {
    const standard = { per_minute: 100, burst: 200 };
    const limit = fc.option(
      fc.record({ per_minute: fc.integer({ min: 1, max: 300 }), burst: fc.integer({ min: 1, max: 500 }) }),
    );
    fc.assert(
      fc.property(limit, limit, fc.boolean(), (own, wanted, account) => {
        const creator = createToken('creator', { role: 'admin', rate_limit: own });
        const fields = { created_by: idOf('creator'), rate_limit: wanted, standard_rate_limit: standard };
        const before = after(bootstrap({ token_rate_limit: { per_minute: 1_000, burst: 2_000 } }), creator);
        const decision = decide(
          account ? createServiceAccount('made', fields) : createToken('made', fields),
          before,
        );
        const has = own ?? standard;
        const asks = wanted ?? standard;
        const within = asks.per_minute <= has.per_minute && asks.burst <= has.burst;
        if (decision.outcome === 'rejected') {
          expect([decision.code, within, wanted !== null]).toEqual(['rate_limit_not_allowed', false, true]);
          return;
        }
        const made =
          decision.events.reduce(evolve, before).credentials.get(idOf('made'))?.rate_limit ?? standard;
        expect(made.per_minute).toBeLessThanOrEqual(has.per_minute);
        expect(made.burst).toBeLessThanOrEqual(has.burst);
        if (within) expect(made).toEqual(asks);
      }),
    );
  });

  test('a repeat of the creation does not revive an ended credential, and has the same answer', () => {
    const created = decide(createToken('editor'), after(bootstrap()));
    const ended = after(bootstrap(), createToken('editor'), revokeToken('editor'));
    expect(decide(createToken('editor'), ended)).toEqual({ ...created, events: [] });
    expect(codeOf(decide(revokeToken('editor'), ended))).toEqual([]);
    expect(codeOf(decide(revokeToken('editor', {}, 'another'), ended))).toBe('token_not_found');
  });

  test('a rotation keeps the previous secret for 24 hours, and only that one', () => {
    const state = after(bootstrap(), createServiceAccount('a'), rotate('a', 'first'), rotate('a', 'second'));
    expect(state.credentials.get(idOf('a'))).toMatchObject({
      secret_hash: hashOf('second'),
      last_four: 'turn',
      previous_secret: { secret_hash: hashOf('first'), valid_until: '2026-01-02T12:00:00.000Z' },
    });
    expect(codeOf(decide(rotate('a', 'second'), state))).toEqual([]);
    expect(codeOf(decide(rotate('a', 'first'), state))).toBe('idempotency_key_reused');
  });

  test('the active OU must be one that the credential may use', () => {
    expect(codeOf(decide(setActive('root', 'second'), given))).toEqual(['ActiveOrgUnitSet']);
    expect(codeOf(decide(setActive('editor', 'second'), given))).toBe('org_unit_not_found');
    expect(codeOf(decide(setActive('root', 'nowhere'), given))).toBe('org_unit_not_found');
    expect(decide(setActive('root', 'second'), given)).toMatchObject({
      result: { ouId: idOf('second'), name: 'second' },
    });
  });
});

const names = fc.constantFrom('a', 'b', 'c');
const command: fc.Arbitrary<IdentityCommand> = fc.oneof(
  fc.constant(bootstrap()),
  names.map((name) => createOrgUnit(`unit ${name}`)),
  fc.tuple(names, names).map(([unit, name]) => renameOrgUnit(`unit ${unit}`, `unit ${name}`)),
  fc
    .tuple(names, names, fc.nat(2))
    .map(([unit, by, turn]) =>
      endOrgUnit(`unit ${unit}`, { requested_by: idOf(turn === 0 ? by : 'root') }, `end ${unit} ${turn}`),
    ),
  fc.constant(endOrgUnit('main')),
  fc
    .tuple(names, names, names)
    .map(([name, one, other]) =>
      createToken(`several ${name}`, { ou_ids: [...new Set([idOf(`unit ${one}`), idOf(`unit ${other}`)])] }),
    ),
  fc
    .tuple(names, names)
    .map(([name, unit]) => createToken(name, { ou_ids: [idOf(`unit ${unit}`)], role: 'admin' })),
  names.map((name) => createToken(name)),
  names.map((name) => revokeToken(name)),
  names.map((name) => createServiceAccount(`account ${name}`)),
  fc.tuple(names, names).map(([name, turn]) => rotate(`account ${name}`, `turn ${name} ${turn}`)),
  names.map((name) => revokeServiceAccount(`account ${name}`)),
  fc.tuple(names, names).map(([name, unit]) => setActive(name, `unit ${unit}`)),
  fc.tuple(names, fc.boolean(), fc.constantFrom(1, 100, 5_000, null)).map(([name, account, n]) =>
    limitCredential(account ? `account ${name}` : name, {
      kind: account ? 'service_account' : 'token',
      rate_limit: n === null ? null : { per_minute: n, burst: n },
    }),
  ),
  fc
    .constantFrom(10, 500, null)
    .map((n) => limitOrganisation({ rate_limit: n === null ? null : { per_minute: n, burst: n } })),
  fc
    .tuple(names, names, fc.constantFrom('viewer', 'editor', 'admin'))
    .map(([name, unit, role]) => addMember(`member ${name}`, { role, ou_ids: [idOf(`unit ${unit}`)] })),
  names.map((name) => addMember(`member ${name}`, { role: 'admin' })),
  fc
    .tuple(names, names)
    .map(([name, unit]) => changeMember(`member ${name}`, { ou_ids: [idOf(`unit ${unit}`)] })),
  names.map((name) => removeMember(`member ${name}`)),
  names.map((name) => inviteMember(`member ${name}`)),
  names.map((name) => join(`member ${name}`)),
  names.map((name) => admit(`member ${name}`, { created: { role: 'admin', ou_ids: null } })),
  fc.tuple(names, names).map(([name, unit]) => setActive(`member ${name}`, `unit ${unit}`)),
  fc
    .tuple(names, names)
    .map(([name, unit]) => createOrgUnit(`unit of ${unit}`, { created_by: idOf(`token of member ${name}`) })),
);
const commands = fc.array(command, { maxLength: 60 }).map((some) => [bootstrap(), ...some]);

describe('laws, for any sequence of commands', () => {
  test('an accepted command that is repeated at once is a no-op with the same answer', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        let state = emptyOrganisation;
        for (const one of sequence) {
          const first = decide(one, state);
          if (first.outcome === 'rejected') {
            expect(isProblemCode(first.code)).toBe(true);
            continue;
          }
          state = first.events.reduce(evolve, state);
          expect(decide(one, state)).toEqual({ ...first, events: [] });
        }
      }),
    );
  });

  test('a repeated creation never adds anything, also much later', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        const state = after(...sequence);
        for (const one of sequence.filter(({ type }) => type.startsWith('Create'))) {
          const accepted = [...state.units.keys(), ...state.credentials.keys()].includes(one.id);
          const again = decide(one, state);
          if (accepted && again.outcome === 'done') expect(again.events).toEqual([]);
        }
      }),
    );
  });

  test('no credential may use an ended OU; the other OUs, their names and their credentials stay unchanged', () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        let state = emptyOrganisation;
        for (const one of sequence) {
          const decision = decide(one, state);
          if (decision.outcome === 'rejected') continue;
          const next = decision.events.reduce(evolve, state);
          if (one.type === 'EndOrgUnit')
            for (const unit of state.units.values())
              if (unit.id !== one.payload.ou_id) expect(next.units.get(unit.id)).toEqual(unit);
          state = next;
        }
        const live = usableUnits(state, { ou_ids: null });
        expect(live.length).toBeGreaterThan(0);
        expect(new Set(live.map(({ name }) => name)).size).toBe(live.length);
        for (const credential of state.credentials.values()) {
          const usable = usableUnits(state, credential).map(({ id }) => id);
          // Its OUs exist, so a valid credential can always work in one.
          if (!credential.revoked) {
            expect(usable.length).toBeGreaterThan(0);
            if (credential.ou_ids) expect([...usable].sort()).toEqual([...credential.ou_ids].sort());
          }
          // No credential works in another OU than the one that it chose.
          const working = workingUnit(usable, credential.active_ou_id);
          if (credential.active_ou_id !== null) expect([null, credential.active_ou_id]).toContain(working);
          for (const [id, { ended }] of state.units)
            if (ended) expect([working, ...usable]).not.toContain(id);
        }
      }),
    );
  });

  test('an event changes one document: folding anew from any stored state gives the same documents', () => {
    fc.assert(
      fc.property(commands, fc.nat(), (sequence, seed) => {
        const events = eventsOf(sequence);
        const whole = stored(events, new Map());
        // A crash in between: only some documents are stored up to here.
        const stopped = events.slice(0, seed % (events.length + 1));
        const half = new Map(
          [...stored(stopped, new Map())].filter((_, index) => (seed >> (index % 8)) % 2 === 0),
        );
        expect(stored(events, half)).toEqual(whole);
      }),
    );
  });
});

type Stored = Map<string, { value: unknown; offset: number }>;

/** Folds as a partition does: a document takes only events after the last one folded into it. */
function stored(events: readonly IdentityEvent[], before: Stored): Stored {
  let guarded: GuardedOrganisation = {
    state: stateOf(before),
    offsets: new Map([...before].map(([id, { offset }]) => [id, offset])),
  };
  for (const [offset, event] of events.entries())
    if (!isFolded(guarded, event, offset)) guarded = evolveGuarded(guarded, event, offset);
  const documents = documentsOf(organisationId, guarded.state, guarded.offsets, 0);
  return new Map(
    [
      ...documents.organisations,
      ...documents.orgUnits,
      ...documents.members,
      ...documents.tokens,
      ...documents.serviceAccounts,
    ].map(({ value, offset }) => [value.id, { value, offset }]),
  );
}

function stateOf(documents: Stored): OrganisationState {
  let state = emptyOrganisation;
  for (const { value } of documents.values()) {
    const one = value as { id: string; kind?: string; email?: string };
    if (one.id === organisationId) state = { ...state, organisation: value as never };
    else if (one.email !== undefined)
      state = { ...state, members: new Map(state.members).set(one.id, value as never) };
    else if (one.kind === undefined)
      state = { ...state, units: new Map(state.units).set(one.id, value as never) };
    else state = { ...state, credentials: new Map(state.credentials).set(one.id, value as never) };
  }
  return state;
}
