// Members: what each may do, who may change that, and the laws that hold after any sequence of commands.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addMember,
  admit,
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
  organisationId,
  removeMember,
  revokeToken,
  setActive,
} from '../testing/builders.js';
import { decide } from './decide.js';
import { actorIn, identityLimits, ownerOf, type IdentityDecision } from './decision-model.js';
import { evolve } from './evolve.js';
import type { IdentityCommand, IdentityEvent, Role } from './messages.js';
import {
  builtInMemberId,
  covers,
  emptyOrganisation,
  hasRole,
  memberIn,
  presentMembers,
  type OrganisationState,
} from './state.js';

function after(...commands: IdentityCommand[]): OrganisationState {
  return commands.reduce((state, command) => {
    const decision = decide(command, state);
    return decision.outcome === 'done' ? decision.events.reduce(evolve, state) : state;
  }, emptyOrganisation);
}

const codeOf = (decision: IdentityDecision) =>
  decision.outcome === 'rejected' ? decision.code : decision.events.map(({ type }) => type);
const builtIn = builtInMemberId(organisationId);
const by = (name: string) => ({ requested_by: idOf(name) });
const madeBy = (name: string) => ({ created_by: idOf(name) });
const rightsOf = (state: OrganisationState, token: string) => {
  const actor = actorIn(state, idOf(token));
  return 'outcome' in actor ? actor.code : [actor.kind === 'token' && actor.role, actor.ou_ids];
};

describe('the built-in member', () => {
  test('has the tokens of a log from before there were members, which folds to the same documents as before', () => {
    const old: IdentityEvent = {
      type: 'TokenCreated',
      command_id: idOf('old'),
      payload: {
        organisation_id: organisationId,
        token_id: idOf('old'),
        name: 'old',
        token_hash: hashOf('old'),
        last_four: 'last',
        role: 'editor',
        ou_ids: null,
        expires_at: null,
        rate_limit: null,
        created_by: idOf('root'),
        at: '2025-01-01T00:00:00.000Z',
      },
    };
    const state = evolve(after(bootstrap()), old);
    expect(state.members.size).toBe(0);
    expect(Object.keys(state.credentials.get(idOf('old')) ?? {})).not.toContain('member_id');
    expect(presentMembers(state)).toEqual([
      expect.objectContaining({ id: builtIn, email: null, role: 'admin', ou_ids: null, removed: null }),
    ]);
    expect(rightsOf(state, 'old')).toEqual(['editor', null]);
    expect(rightsOf(state, 'root')).toEqual(['admin', null]);
  });

  const given = after(bootstrap(), createToken('second'), addMember('ada', { role: 'admin' }), join('ada'));
  const byAda = by('token of ada');
  const removal: IdentityCommand = {
    ...removeMember('built-in'),
    payload: { ...removeMember('built-in').payload, member_id: builtIn, ...byAda },
  } as IdentityCommand;

  test('cannot be changed or invited', () => {
    for (const command of [changeMember('built-in', { role: 'viewer' }), inviteMember('built-in')]) {
      const ofBuiltIn = {
        ...command,
        payload: { ...command.payload, member_id: builtIn },
      } as IdentityCommand;
      expect(codeOf(decide(ofBuiltIn, given))).toBe('built_in_member');
    }
  });

  test('can be removed with its tokens once there is another admin; a new bootstrap token brings it back, the old ones stay ended', () => {
    expect(codeOf(decide(removal, after(bootstrap(), addMember('ada', { role: 'admin' }))))).toBe(
      'credential_invalid',
    );
    const decision = decide(removal, given);
    expect(codeOf(decision)).toEqual(['MemberRemoved', 'TokenRevoked', 'TokenRevoked']);
    const removed = decision.outcome === 'done' ? decision.events.reduce(evolve, given) : given;
    expect(presentMembers(removed).map(({ name }) => name)).toEqual(['ada']);
    expect(codeOf(decide(bootstrap(), removed))).toEqual([]);
    const again = decide(bootstrap({ token_id: idOf('new'), token_hash: hashOf('new') }), removed);
    expect(codeOf(again)).toEqual(['MemberAdded', 'TokenCreated', 'ActiveOrgUnitSet']);
    const back = again.outcome === 'done' ? again.events.reduce(evolve, removed) : removed;
    expect(rightsOf(back, 'new')).toEqual(['admin', null]);
    expect(rightsOf(back, 'root')).toBe('credential_invalid');
    expect(rightsOf(back, 'second')).toBe('credential_invalid');
  });

  test('cannot be removed while nobody else is an admin of every OU who has joined', () => {
    const fromRoot = { ...removal, payload: { ...removal.payload, ...by('root') } } as IdentityCommand;
    for (const others of [
      [],
      [addMember('ada', { role: 'admin' })],
      [addMember('ada', { role: 'editor' }), join('ada')],
      [addMember('ada', { role: 'admin', ou_ids: [idOf('main')] }), join('ada')],
    ])
      expect(codeOf(decide(fromRoot, after(bootstrap(), ...others)))).toBe('last_admin');
    expect(codeOf(decide(fromRoot, given))).toContain('MemberRemoved');
  });
});

describe('adding and changing members', () => {
  const given = after(
    bootstrap(),
    createOrgUnit('second'),
    addMember('ada', { role: 'admin' }),
    join('ada'),
    addMember('main admin', { role: 'admin', ou_ids: [idOf('main')] }),
    join('main admin'),
    addMember('ed', { role: 'editor', ou_ids: [idOf('main')] }),
    join('ed'),
    createServiceAccount('sync', { scopes: ['admin'], ou_ids: null }),
  );
  const main = [idOf('main')];
  const ofMain = by('token of main admin');

  test.each<[string, IdentityCommand, string | string[]]>([
    ['an admin adds', addMember('x', by('token of ada')), ['MemberAdded']],
    ['a service account with the scope adds', addMember('x', by('sync')), ['MemberAdded']],
    ['an editor does not', addMember('x', by('token of ed')), 'role_not_allowed'],
    ['an address that a member has', addMember('x', { email: 'ed@example.com' }), 'duplicate_email'],
    ['an admin of an OU adds for the OU', addMember('x', { ...ofMain, ou_ids: main }), ['MemberAdded']],
    ['but not for every OU', addMember('x', ofMain), 'org_unit_not_allowed'],
    ['nor another', addMember('x', { ...ofMain, ou_ids: [idOf('second')] }), 'org_unit_not_found'],
    ['nor an unknown OU', addMember('x', { ou_ids: [idOf('nowhere')] }), 'org_unit_not_found'],
    [
      'an admin of an OU changes its members',
      changeMember('ed', { ...ofMain, role: 'viewer' }),
      ['MemberChanged'],
    ],
    ['but gives them no other OU', changeMember('ed', { ...ofMain, ou_ids: null }), 'org_unit_not_allowed'],
    [
      'nor touches members of other OUs',
      changeMember('ada', { ...ofMain, role: 'viewer' }),
      'member_not_found',
    ],
    ['nor removes them', removeMember('ada', ofMain), 'member_not_found'],
    ['a change to what is', changeMember('ed', { role: 'editor', name: 'ed' }), []],
    ['an address that another has', changeMember('ed', { email: 'ada@example.com' }), 'duplicate_email'],
    ['a member who does not exist', changeMember('nobody', { name: 'x' }), 'member_not_found'],
  ])('%s', (_title, command, expected) => {
    expect(codeOf(decide(command, given))).toEqual(expected);
  });

  test('the last admin of every OU cannot be removed, demoted or limited to some OUs', () => {
    const withoutBuiltIn = { ...given, members: new Map(given.members) };
    withoutBuiltIn.members.set(builtIn, {
      ...(memberIn(given, builtIn) as never as object),
      removed: { at: '2026-01-01T00:00:00.000Z', command_id: idOf('x') },
    } as never);
    const self = by('token of ada');
    for (const command of [
      removeMember('ada', self),
      changeMember('ada', { ...self, role: 'editor' }),
      changeMember('ada', { ...self, ou_ids: main }),
    ]) {
      const decision = decide(command, withoutBuiltIn);
      expect(decision).toMatchObject({
        code: 'last_admin',
        message: expect.stringContaining('Make another member one first'),
      });
    }
    expect(codeOf(decide(changeMember('ada', { ...self, name: 'Ada L.' }), withoutBuiltIn))).toEqual([
      'MemberChanged',
    ]);
    expect(codeOf(decide(removeMember('ada', self), given))).toEqual(['MemberRemoved', 'TokenRevoked']);
  });

  test('the address of a removed member may be used again, for a new member', () => {
    const removed = decide(removeMember('ed'), given);
    const state = removed.outcome === 'done' ? removed.events.reduce(evolve, given) : given;
    expect(codeOf(decide(addMember('ed again', { email: 'ed@example.com' }), state))).toEqual([
      'MemberAdded',
    ]);
    expect(codeOf(decide(addMember('ed'), state))).toBe('idempotency_key_reused');
    expect(presentMembers(state).some(({ name }) => name === 'ed')).toBe(false);
  });

  test('a member whose only OU ends stays and may do nothing; who makes an OU may use it', () => {
    const ended = decide(endOrgUnit('main'), given);
    expect(codeOf(ended)).toEqual(['OrgUnitEnded', 'MemberChanged', 'MemberChanged']);
    const state = ended.outcome === 'done' ? ended.events.reduce(evolve, given) : given;
    expect(rightsOf(state, 'token of ed')).toEqual(['editor', []]);
    const third = decide(createOrgUnit('third', madeBy('token of main admin')), given);
    const made = third.outcome === 'done' ? third.events.reduce(evolve, given) : given;
    expect(rightsOf(made, 'token of main admin')).toEqual(['admin', [idOf('main'), idOf('third')]]);
    expect(rightsOf(made, 'token of ed')).toEqual(['editor', main]);
  });
});

describe('invitations', () => {
  const given = after(bootstrap(), addMember('ada', { role: 'viewer', ou_ids: [idOf('main')] }));

  test('a link gives one token, which may do what its member may, and is then used up', () => {
    const decision = decide(join('ada'), given);
    expect(codeOf(decision)).toEqual(['MemberJoined', 'TokenCreated']);
    const joined = after(
      bootstrap(),
      addMember('ada', { role: 'viewer', ou_ids: [idOf('main')] }),
      join('ada'),
    );
    expect(rightsOf(joined, 'token of ada')).toEqual(['viewer', [idOf('main')]]);
    expect(decide(join('ada'), joined)).toEqual({ ...decision, events: [] });
    const second = { ...join('ada', { token_id: idOf('t'), token_hash: hashOf('t') }), id: idOf('t') };
    expect(codeOf(decide(second, joined))).toBe('invitation_not_found');
  });

  test.each<[string, IdentityCommand]>([
    ['another secret', join('ada', { invitation_hash: hashOf('guess') })],
    ['another member', join('nobody', { invitation_hash: hashOf('link of ada') })],
  ])('%s gives nothing', (_title, command) => {
    expect(codeOf(decide(command, given))).toBe('invitation_not_found');
  });

  test('a link can be used until its time', () => {
    const at = (requested_at: string) => codeOf(decide(join('ada', { requested_at }), given));
    expect(at('2026-01-08T11:59:59.999Z')).toEqual(['MemberJoined', 'TokenCreated']);
    expect(at('2026-01-08T12:00:00.000Z')).toBe('invitation_expired');
  });

  test('a new link replaces the earlier one, and is made only for a member without a valid token', () => {
    const invited = after(bootstrap(), addMember('ada'), inviteMember('ada'));
    expect(codeOf(decide(join('ada'), invited))).toBe('invitation_not_found');
    const joined = after(bootstrap(), addMember('ada'), join('ada'));
    expect(codeOf(decide(inviteMember('ada'), joined))).toBe('member_has_token');
    const lost = after(bootstrap(), addMember('ada'), join('ada'), revokeToken('token of ada'));
    expect(codeOf(decide(inviteMember('ada'), lost))).toEqual(['MemberInvited']);
  });

  test('the link of a removed member is worth nothing', () => {
    const removed = after(bootstrap(), addMember('ada'), removeMember('ada'));
    expect(codeOf(decide(join('ada'), removed))).toBe('invitation_not_found');
  });

  test('the first token has no higher limit than the admin who invited', () => {
    const slow = { per_minute: 5, burst: 5 };
    const state = after(
      bootstrap(),
      createToken('slow', { role: 'admin', ou_ids: null, rate_limit: slow }),
      addMember('ada', by('slow')),
      join('ada'),
    );
    expect(state.credentials.get(idOf('token of ada'))?.rate_limit).toEqual(slow);
  });
});

describe('sign-in with OpenID Connect', () => {
  const created = { role: 'viewer', ou_ids: null } as const;
  const given = after(bootstrap(), addMember('ada', { role: 'admin' }));

  test('who was invited has joined by it, once, and acts under their own id', () => {
    expect(rightsOf(given, 'ada')).toBe('credential_invalid');
    expect(codeOf(decide(admit('ada'), given))).toEqual(['MemberJoined']);
    const joined = after(bootstrap(), addMember('ada', { role: 'admin' }), admit('ada'));
    expect(codeOf(decide(admit('ada', { created }, 'again'), joined))).toEqual([]);
    expect(rightsOf(joined, 'ada')).toEqual(['admin', null]);
    expect(codeOf(decide(addMember('eve', by('ada')), joined))).toEqual(['MemberAdded']);
    const made = decide(createToken('own', madeBy('ada')), joined);
    expect(made).toMatchObject({ result: { member_id: idOf('ada') } });
  });

  test('anybody else becomes a member where the issuer may make them, and nobody who was removed', () => {
    expect(codeOf(decide(admit('eve'), given))).toBe('member_not_found');
    const came = after(bootstrap(), admit('eve', { created }));
    expect(rightsOf(came, 'admitted eve')).toEqual(['viewer', null]);
    const removed = decide(removeMember('admitted eve'), came);
    const gone = removed.outcome === 'done' ? removed.events.reduce(evolve, came) : came;
    expect(codeOf(decide(admit('eve', { created }, 'again'), gone))).toBe('member_not_found');
    expect(rightsOf(gone, 'admitted eve')).toBe('credential_invalid');
  });

  test('a session has an active OU of its own, and stays in its only one when a second is made', () => {
    const joined = after(bootstrap(), addMember('ada'), admit('ada'), createOrgUnit('second'));
    expect(joined.members.get(idOf('ada'))?.active_ou_id).toBe(idOf('main'));
    const moved = decide(setActive('ada', 'second'), joined);
    expect(codeOf(moved)).toEqual(['ActiveOrgUnitSet']);
    const state = moved.outcome === 'done' ? moved.events.reduce(evolve, joined) : joined;
    expect(state.members.get(idOf('ada'))?.active_ou_id).toBe(idOf('second'));
  });
});

describe('personal tokens', () => {
  const given = after(
    bootstrap(),
    createOrgUnit('second'),
    addMember('ada', { role: 'editor' }),
    join('ada'),
    createToken('narrow', { ...madeBy('token of ada'), role: 'viewer' }),
    addMember('eve', { role: 'editor' }),
    join('eve'),
  );
  const afterwards = (...commands: IdentityCommand[]) =>
    commands.reduce((state, command) => {
      const decision = decide(command, state);
      return decision.outcome === 'done' ? decision.events.reduce(evolve, state) : state;
    }, given);

  test('a token belongs to the member whose token made it', () => {
    const owner = ownerOf(given, given.credentials.get(idOf('narrow')) ?? ({} as never));
    expect(owner?.id).toBe(idOf('ada'));
  });

  test('its rights follow those of its member at each moment, down and up', () => {
    expect(rightsOf(given, 'narrow')).toEqual(['viewer', [idOf('main')]]);
    expect(rightsOf(given, 'token of ada')).toEqual(['editor', null]);
    const demoted = afterwards(changeMember('ada', { role: 'viewer', ou_ids: [idOf('second')] }));
    expect(rightsOf(demoted, 'narrow')).toEqual(['viewer', []]);
    expect(rightsOf(demoted, 'token of ada')).toEqual(['viewer', [idOf('second')]]);
    expect(codeOf(decide(createToken('more', madeBy('token of ada')), demoted))).toBe('org_unit_not_found');
    const promoted = afterwards(changeMember('ada', { role: 'admin' }));
    expect(rightsOf(promoted, 'token of ada')).toEqual(['admin', null]);
    expect(rightsOf(promoted, 'narrow')).toEqual(['viewer', [idOf('main')]]);
  });

  test('a narrowed token makes none that may do more than itself', () => {
    expect(codeOf(decide(createToken('wide', madeBy('narrow')), given))).toBe('role_not_allowed');
    expect(
      codeOf(decide(createToken('wide', { ...madeBy('narrow'), role: 'viewer', ou_ids: null }), given)),
    ).toBe('org_unit_not_allowed');
  });

  test('a member has at most a hundred, so that nobody uses up those of the organisation', () => {
    const many = Array.from({ length: identityLimits.tokensOfMember }, (_, n) =>
      createToken(`token ${String(n)}`, madeBy('token of ada')),
    );
    const full = afterwards(...many);
    expect(codeOf(decide(createToken('more', madeBy('token of ada')), full))).toBe('limit_reached');
    expect(codeOf(decide(createToken('more', madeBy('token of eve')), full))).toEqual(['TokenCreated']);
  });

  test('members end their own tokens, admins those of anybody, nobody else', () => {
    expect(codeOf(decide(revokeToken('narrow', by('token of ada')), given))).toEqual(['TokenRevoked']);
    expect(codeOf(decide(revokeToken('narrow', by('token of eve')), given))).toBe('token_not_found');
    expect(codeOf(decide(revokeToken('root', by('token of ada')), given))).toBe('token_not_found');
    expect(codeOf(decide(revokeToken('narrow'), given))).toEqual(['TokenRevoked']);
  });

  test('they end with their member, and only they', () => {
    const removed = afterwards(removeMember('ada'));
    expect(rightsOf(removed, 'narrow')).toBe('credential_invalid');
    expect(rightsOf(removed, 'token of ada')).toBe('credential_invalid');
    expect(rightsOf(removed, 'token of eve')).toEqual(['editor', null]);
  });
});

const names = fc.constantFrom('a', 'b', 'c');
const roles = fc.constantFrom<Role>('viewer', 'editor', 'admin');
const units = fc
  .option(fc.constantFrom(['main'], ['other'], ['main', 'other']))
  .map((some) => some?.map(idOf) ?? null);
const actors = fc.constantFrom(
  'root',
  'a',
  'admitted b',
  'token of a',
  'token of b',
  'token of c',
  'of a',
  'of b',
);
const command: fc.Arbitrary<IdentityCommand> = fc.oneof(
  fc
    .tuple(names, roles, units, actors)
    .map(([name, role, ou_ids, actor]) => addMember(name, { role, ou_ids, ...by(actor) })),
  fc
    .tuple(names, roles, units, actors)
    .map(([name, role, ou_ids, actor]) => changeMember(name, { role, ou_ids, ...by(actor) })),
  fc.tuple(names, roles, actors).map(([name, role, actor]) => changeMember(name, { role, ...by(actor) })),
  fc.tuple(names, actors).map(([name, actor]) => removeMember(name, by(actor))),
  actors.map((actor) => {
    const one = removeMember('built-in', by(actor));
    return { ...one, payload: { ...one.payload, member_id: builtIn } } as IdentityCommand;
  }),
  fc.tuple(names, actors).map(([name, actor]) => inviteMember(name, `invite ${name}`, by(actor))),
  names.map((name) => join(name)),
  fc.tuple(names, roles, units).map(([name, role, ou_ids]) => admit(name, { created: { role, ou_ids } })),
  fc
    .tuple(names, roles, units)
    .map(([name, role, ou_ids]) =>
      createToken(`of ${name}`, { ...madeBy(`token of ${name}`), role, ou_ids }),
    ),
  fc.tuple(actors, actors).map(([token, actor]) => revokeToken(token, by(actor), `${token} ${actor}`)),
  fc.constant(createOrgUnit('other')),
  actors.map((actor) => endOrgUnit('other', by(actor))),
  fc.constant(bootstrap()),
);

test('law: whatever is commanded, an admin of every OU stays, no token exceeds its member or itself, and addresses are unique', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (sequence) => {
      const state = after(bootstrap(), ...sequence);
      const present = presentMembers(state);
      expect(
        present.some(
          ({ role, ou_ids, joined_at }) => role === 'admin' && ou_ids === null && joined_at !== null,
        ),
      ).toBe(true);
      const addresses = present.flatMap(({ email }) => email ?? []);
      expect(new Set(addresses).size).toBe(addresses.length);
      for (const credential of state.credentials.values()) {
        if (credential.kind !== 'token' || credential.revoked) continue;
        const owner = ownerOf(state, credential);
        const actor = actorIn(state, credential.id);
        if (!owner || 'outcome' in actor || actor.kind !== 'token')
          throw new Error('a valid token has a member who is present');
        expect(owner.removed).toBeNull();
        expect(hasRole(owner.role, actor.role) && hasRole(credential.role, actor.role)).toBe(true);
        expect(covers(owner.ou_ids, actor.ou_ids) && covers(credential.ou_ids, actor.ou_ids)).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test('law: a member who is no admin changes nobody and nothing but their own tokens', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), command, (sequence, last) => {
      const state = after(bootstrap(), addMember('c', { role: 'editor' }), join('c'), ...sequence);
      const asker = actorIn(state, idOf('token of c'));
      if ('outcome' in asker || asker.kind !== 'token' || asker.role === 'admin') return;
      const payload = { ...last.payload, ...by('token of c'), ...madeBy('token of c') };
      if (['BootstrapOrganisation', 'AcceptInvitation', 'AdmitMember'].includes(last.type)) return;
      const decision = decide({ ...last, id: idOf('last'), payload } as IdentityCommand, state);
      if (decision.outcome === 'rejected') return;
      for (const event of decision.events) {
        expect(['TokenCreated', 'TokenRevoked']).toContain(event.type);
        const changed = decision.events.reduce(evolve, state);
        const token = changed.credentials.get((event.payload as { token_id: string }).token_id);
        expect(token && ownerOf(changed, token)?.id).toBe(idOf('c'));
      }
    }),
    { numRuns: 300 },
  );
});
