// `lead-scoring ou list`, `rename` and `end`: the organizational units that the credential may use.
import type { Client } from '@lead-scoring/client';
import { clientOf, promptRetries } from './api-client.js';
import { CommandFailed, exitCodes } from './errors.js';
import { shortTime } from './explanation.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

interface Unit {
  id: string;
  name: string;
  active: boolean;
  created_at: string;
}

/** @returns the exit code */
export async function listUnits(
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const units = await unitsOf(clientWithoutUnit(settings));
  output.write(
    flags.json === true
      ? `${JSON.stringify(units, null, 2)}\n`
      : `${table(units, [
          { title: 'NAME', value: (unit) => unit.name, maximum: 40 },
          { title: 'ACTIVE', value: (unit) => (unit.active ? 'yes' : '') },
          { title: 'CREATED', value: (unit) => shortTime(unit.created_at) },
          { title: 'ID', value: (unit) => unit.id },
        ])}\n`,
  );
  return exitCodes.done;
}

/** @returns the exit code */
export async function renameUnit(
  unit: string,
  name: string,
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientWithoutUnit(settings);
  const found = await unitNamed(unit, client);
  const renamed = await client.call('renameOrgUnit', { parameters: { id: found.id }, body: { name } });
  output.note(`${found.name} is now called ${renamed.name}.\n`);
  return exitCodes.done;
}

/** @returns the exit code */
export async function endUnit(
  unit: string,
  flags: { yes?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const client = clientWithoutUnit(settings);
  const { id, name } = await unitNamed(unit, client);
  if (flags.yes !== true)
    throw new CommandFailed(
      `This would end ${name} (${id}) for good, with its share links and the credentials that can use nothing else. Say --yes to do it.`,
      exitCodes.usage,
    );
  await client.call('endOrgUnit', { parameters: { id } });
  output.note(`${name} has ended. What is in it can no longer be read or changed through the API.\n`);
  return exitCodes.done;
}

/** Finds a unit by its id or its name. */
async function unitNamed(wanted: string, client: Client): Promise<Unit> {
  const units = await unitsOf(client);
  const found = units.find(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  if (found) return found;
  throw new CommandFailed(
    `There is no organizational unit "${wanted}" that this credential may use. There are: ${units
      .map(({ name }) => name)
      .join(', ')}.`,
    exitCodes.data,
  );
}

async function unitsOf(client: Client): Promise<Unit[]> {
  const units: Unit[] = [];
  for (let page = 1; ; page += 1) {
    const { data, total } = await client.call('listOrgUnits', { query: { limit: 100, page } });
    units.push(...data);
    if (data.length === 0 || units.length >= total) return units;
  }
}

/** Lists and names units: a unit in the settings that does not exist must not be sent along. */
function clientWithoutUnit(settings: Settings): Client {
  return clientOf({ ...settings, ouId: undefined }, promptRetries);
}
