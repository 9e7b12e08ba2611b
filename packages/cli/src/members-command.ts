// `lead-scoring members`: the people of the organisation, and what each may do. docs/members.md
import type { CallAnswer, Client } from '@lead-scoring/client';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { shortTime } from './explanation.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

type Member = CallAnswer<'listMembers'>['data'][number];

export interface MembersFlags {
  units?: string;
  yes?: boolean;
}

const roles = ['viewer', 'editor', 'admin'] as const;

/** @returns the exit code */
export async function listMembers(
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const members = await membersOf(clientOf(settings, promptRetries));
  output.write(
    flags.json === true
      ? `${JSON.stringify(members, null, 2)}\n`
      : `${table(members, [
          { title: 'NAME', value: (member) => member.name, maximum: 30 },
          { title: 'E-MAIL', value: (member) => member.email ?? '', maximum: 40 },
          { title: 'ROLE', value: (member) => member.role },
          {
            title: 'UNITS',
            value: (member) => (member.ou_ids === null ? 'all' : String(member.ou_ids.length)),
          },
          { title: 'STATUS', value: (member) => (member.built_in ? 'built in' : member.status) },
          { title: 'SINCE', value: (member) => shortTime(member.created_at) },
          { title: 'ID', value: (member) => member.id },
        ])}\n`,
  );
  return exitCodes.done;
}

/** @returns the exit code */
export async function inviteMember(
  form: { email: string; name: string; role: Member['role'] },
  { units }: MembersFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const ou_ids = units === undefined ? null : units.split(',').map((unit) => unit.trim());
  const client = clientOf(settings, promptRetries);
  const invited = await client.call('addMember', { body: { ...form, ou_ids } });
  output.note(
    `${invited.name} is invited as ${invited.role}. Send this link to ${form.email}; it can be used once:\n`,
  );
  output.write(`${invited.invitation_url}\n`);
  return exitCodes.done;
}

/** @returns the exit code */
export async function setRole(
  wanted: string,
  role: Member['role'],
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const { id } = await memberNamed(wanted, client);
  const changed = await client.call('changeMember', { parameters: { id }, body: { role } });
  output.note(`${changed.name} is ${changed.role} now, with all of their tokens.\n`);
  return exitCodes.done;
}

/** @returns the exit code */
export async function newLink(wanted: string, settings: Settings, output: Output): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const { id, name } = await memberNamed(wanted, client);
  const invited = await client.call('inviteMember', { parameters: { id } });
  output.note(`Send this link to ${name}; it can be used once:\n`);
  output.write(`${invited.invitation_url}\n`);
  return exitCodes.done;
}

/** @returns the exit code */
export async function removeMember(
  wanted: string,
  flags: MembersFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientOf(settings, promptRetries);
  const { id, name, email } = await memberNamed(wanted, client);
  if (flags.yes !== true)
    throw new CommandFailed(
      `This would remove ${name} (${email ?? 'built in'}) and end their tokens. Say --yes to do it.`,
      exitCodes.usage,
    );
  await client.call('removeMember', { parameters: { id } });
  output.note(`${name} is no longer a member, and their tokens have ended.\n`);
  return exitCodes.done;
}

/** @throws CommandFailed for a word that is no role */
export function roleNamed(wanted: string): Member['role'] {
  const role = roles.find((one) => one === wanted);
  if (role) return role;
  throw new CommandFailed(
    `The role must be ${roles.join(', ')}; "${wanted}" is none of them.`,
    exitCodes.usage,
  );
}

/** Finds a member by address or id. */
async function memberNamed(wanted: string, client: Client): Promise<Member> {
  const key = wanted.toLowerCase();
  const found = (await membersOf(client)).find(({ id, email }) => id === key || email === key);
  if (found) return found;
  throw new CommandFailed(
    `There is no member "${wanted}" whom this credential may manage; \`lead-scoring members list\` shows them.`,
    exitCodes.data,
  );
}

async function membersOf(client: Client): Promise<Member[]> {
  const members: Member[] = [];
  for (let page = 1; ; page += 1) {
    const { data, total } = await client.call('listMembers', { query: { limit: 100, page } });
    members.push(...data);
    if (data.length === 0 || members.length >= total) return members;
  }
}
