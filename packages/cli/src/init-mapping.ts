// `lead-scoring ingest FILE --init-mapping`: proposes a mapping for a CSV.
import type { Readable } from 'node:stream';
import { csvMapping, mapperOf } from './csv-mapping.js';
import { CommandFailed, exitCodes } from './errors.js';
import { firstRowsOf } from './event-source.js';
import { proposeMapping } from './mapping-proposal.js';
import { writeNew } from './new-file.js';
import { plain, type Output } from './output.js';

/** Number of rows to read. */
const maximumRows = 5_000;

/**
 * @param to the file for the mapping; null for standard output
 * @returns the exit code
 */
export async function initMapping(
  file: string,
  to: string | null,
  output: Output,
  stdin: Readable,
): Promise<number> {
  const { columns, rows } = await firstRowsOf(file, { stdin, maximum: maximumRows });
  const proposal = proposeMapping(columns, rows);
  if ('problem' in proposal)
    throw new CommandFailed(
      `No mapping can be proposed: ${plain(proposal.problem)}. \`lead-scoring ingest --help\` shows an example.`,
      exitCodes.data,
    );
  const text = `${JSON.stringify(proposal.mapping, null, 2)}\n`;
  if (to === null) output.write(text);
  else await writeNew(to, text);
  for (const note of proposal.notes) output.note(`${plain(note)}\n`);
  const toEvents = mapperOf(csvMapping.parse(proposal.mapping), columns);
  if ('problem' in toEvents)
    output.note(`Correct this before you use the mapping: ${plain(toEvents.problem)}.\n`);
  else {
    const events = rows.reduce((sum, row) => sum + toEvents(row).events.length, 0);
    output.note(
      `${rows.length === maximumRows ? 'The first ' : ''}${rows.length.toLocaleString('en')} rows give ${events.toLocaleString('en')} events; --dry-run shows them.\n`,
    );
  }
  return exitCodes.done;
}
