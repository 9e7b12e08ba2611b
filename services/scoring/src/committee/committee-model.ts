// The committee of an account: its leads by role, and the roles that nobody active has. Pure.
import {
  committeeLimits,
  committeeRoles,
  type CommitteeRole,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { levelOf, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { roleOfTitle } from './title-model.js';

type Committee = routeDeclarations.BuyingCommittee;
type Role = Committee['roles'][number];
type Member = Role['data'][number];

/** A lead of the account. */
export interface Person {
  readonly lead_id: string;
  readonly name: string;
  readonly title: string | null;
  readonly score: number;
  readonly last_activity_at: string;
}

export interface CommitteeOptions {
  readonly levels: ScoringConfiguration['levels'];
  /** Leads without an event since then are silent. */
  readonly silentBefore: string;
}

/** @param people in the order in which they are to be shown */
export function committeeOf(
  people: readonly Person[],
  options: CommitteeOptions,
): Pick<Committee, 'roles' | 'other' | 'gaps'> {
  const byRole = new Map<CommitteeRole | null, Member[]>();
  for (const person of people) {
    const found = person.title === null ? null : roleOfTitle(person.title);
    const role = found?.role ?? null;
    const members = byRole.get(role) ?? [];
    members.push(memberOf(person, found?.matched ?? null, options));
    byRole.set(role, members);
  }
  const roles = committeeRoles.map((role): Role => {
    const members = membersIn(byRole.get(role) ?? []);
    const status = members.leads === 0 ? 'missing' : members.active === 0 ? 'silent' : 'engaged';
    return { role, status, ...members };
  });
  return { roles, other: membersIn(byRole.get(null) ?? []), gaps: roles.flatMap(gapOf) };
}

function memberOf(
  { lead_id, name, title, score, last_activity_at }: Person,
  matched: string | null,
  { levels, silentBefore }: CommitteeOptions,
): Member {
  return {
    lead_id,
    name,
    title,
    matched,
    score,
    level: levelOf(levels, score),
    last_activity_at,
    engagement: last_activity_at < silentBefore ? 'silent' : 'active',
  };
}

function membersIn(members: readonly Member[]): Committee['other'] {
  return {
    leads: members.length,
    active: members.filter(({ engagement }) => engagement === 'active').length,
    last_activity_at: members.map((member) => member.last_activity_at).reduce(laterOf, null),
    data: members.slice(0, committeeLimits.shown),
  };
}

function laterOf(one: string | null, other: string): string {
  return one !== null && one > other ? one : other;
}

const roleWords: Readonly<Record<CommitteeRole, string>> = {
  decision_maker: 'a decision maker',
  champion: 'a champion',
  finance: 'finance',
  technical: 'a technical role',
  legal: 'legal',
  procurement: 'procurement',
  user: 'a user',
};

function gapOf({ role, status, leads, last_activity_at }: Role): Committee['gaps'] {
  switch (status) {
    case 'engaged':
      return [];
    case 'missing':
      return [{ role, gap: 'missing', text: `No lead has the title of ${roleWords[role]}.` }];
    case 'silent':
      return [
        {
          role,
          gap: 'silent',
          text: `No lead with the title of ${roleWords[role]} is active: ${String(leads)}, the last on ${last_activity_at?.slice(0, 10) ?? ''}.`,
        },
      ];
  }
}
