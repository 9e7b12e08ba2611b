// `lead-scoring positions`: shows how far a service has read its inputs, and lets an operator set where it continues.
// docs/runbooks/positions.md
import type { ServiceName } from '@lead-scoring/contracts';
import { acceptPositions, isBeyondEnd, listPositions, type ServicePositions } from '@lead-scoring/event-log';
import { CommandFailed, exitCodes } from './errors.js';
import { withEventLog } from './log-commands.js';
import { table, type Output } from './output.js';
import type { Settings } from './settings.js';

export interface AcceptFlags {
  json?: boolean;
  readOn?: string;
  outputIsWhole?: boolean;
  partition?: string;
}

/** @returns the exit code: not 0 when a partition is halted */
export async function showPositions(
  service: ServiceName,
  flags: { json?: boolean },
  settings: Settings,
  output: Output,
): Promise<number> {
  const found = await withEventLog(settings, (log) => listPositions(log, service));
  if (flags.json === true) output.write(`${asJson(found)}\n`);
  else
    output.write(
      `${table(found.flatMap(rowsOf), [
        { title: 'PARTITION', value: ({ partition }) => partition, align: 'right' },
        { title: 'TOPIC', value: ({ topic }) => topic },
        { title: 'READ UP TO', value: ({ position }) => position.toString(), align: 'right' },
        { title: 'FIRST', value: ({ earliest }) => earliest?.toString() ?? '', align: 'right' },
        { title: 'END', value: ({ end }) => end.toString(), align: 'right' },
        { title: '', value: (row) => (isBeyondEnd(row) ? 'BEYOND THE END' : '') },
      ])}\n`,
    );
  const isHalted = found.flatMap(rowsOf).some(isBeyondEnd);
  if (isHalted && flags.json !== true)
    output.note(
      `These partitions of ${service} are halted until you state where to continue: docs/runbooks/positions.md\n`,
    );
  return isHalted ? exitCodes.incomplete : exitCodes.done;
}

/** @returns the exit code */
export async function acceptPositionsOf(
  service: ServiceName,
  flags: AcceptFlags,
  settings: Settings,
  output: Output,
): Promise<number> {
  const { readOn } = flags;
  if (readOn !== 'earliest' && readOn !== 'end')
    throw new CommandFailed(
      'State where to continue with --read-on earliest or --read-on end; docs/runbooks/positions.md explains the effect of each on scores.',
      exitCodes.usage,
    );
  const partitions = flags.partition === undefined ? undefined : [partitionOf(flags.partition, settings)];
  const accepted = await withEventLog(settings, async (log) => {
    await log.prepare();
    return acceptPositions(log, service, {
      readOn,
      outputIsWhole: flags.outputIsWhole === true,
      ...(partitions && { partitions }),
    });
  });
  if (flags.json === true) output.write(`${asJson(accepted)}\n`);
  else if (accepted.length === 0)
    output.write(
      `No partition of ${service} has a position beyond the end of a topic: nothing was changed.\n`,
    );
  else
    output.write(
      `Recorded for partition ${accepted.map(({ partition }) => partition).join(', ')} of ${service}, which continues within seconds.\n`,
    );
  return exitCodes.done;
}

function rowsOf({ partition, inputs, output }: ServicePositions) {
  const own = {
    partition,
    topic: output.topic,
    position: output.known,
    earliest: undefined,
    end: output.end,
  };
  return [...inputs.map((input) => ({ partition, ...input })), own];
}

function asJson(found: readonly ServicePositions[]): string {
  return JSON.stringify(found, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value), 2);
}

function partitionOf(text: string, { partitions }: Settings): number {
  const partition = Number(text);
  if (/^\d+$/.test(text) && partition < partitions) return partition;
  throw new CommandFailed(`--partition must be a whole number from 0 to ${partitions - 1}.`, exitCodes.usage);
}
