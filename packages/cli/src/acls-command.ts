// `lead-scoring acls`: the rights that each service, an operator or a downstream consumer needs in Kafka.
import {
  consumerAcls,
  operatorAcls,
  serviceAcls,
  serviceNames,
  type AclBinding,
} from '@lead-scoring/contracts';
import { createAcls } from '@lead-scoring/event-log';
import { CommandFailed, exitCodes } from './errors.js';
import { withEventLog } from './log-commands.js';
import type { Output } from './output.js';
import type { Settings } from './settings.js';

export interface AclsFlags {
  json?: boolean;
  consumer?: string;
  group?: string;
  userPrefix?: string;
  create?: boolean;
}

/** @returns the exit code */
export async function acls(flags: AclsFlags, settings: Settings, output: Output): Promise<number> {
  const bindings = bindingsOf(flags, settings.namespace);
  if (flags.create === true) {
    await withEventLog(settings, (log) => createAcls(log, bindings));
    output.note(`${bindings.length} rights are granted.\n`);
  }
  if (flags.json === true) output.write(`${JSON.stringify(bindings, null, 2)}\n`);
  else if (flags.create !== true) output.write(commandsOf(bindings));
  return exitCodes.done;
}

function bindingsOf({ consumer, group, userPrefix = '' }: AclsFlags, namespace: string): AclBinding[] {
  if (consumer === undefined)
    return [
      ...serviceNames.flatMap((name) => serviceAcls(namespace, name, `${userPrefix}${name}`)),
      ...operatorAcls(namespace, `${userPrefix}operator`),
    ];
  try {
    return consumerAcls(namespace, consumer, group ?? consumer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandFailed(`${error.message}: choose another --group.`, exitCodes.usage, { cause: error });
  }
}

/** Commands of Kafka's own tool, one for each principal and resource. */
export function commandsOf(bindings: readonly AclBinding[]): string {
  const commands = new Map<string, string[]>();
  for (const { principal, resource, name, pattern, operation } of bindings) {
    const grant = `--allow-principal ${quoteForShell(principal)} --${resource} ${quoteForShell(name)} --resource-pattern-type ${pattern}`;
    const operations = commands.get(grant) ?? [];
    commands.set(grant, [...operations, `--operation ${operation}`]);
  }
  return [...commands]
    .map(
      ([grant, operations]) =>
        `kafka-acls.sh --bootstrap-server "$KAFKA_BROKERS" --add ${grant} ${operations.join(' ')}\n`,
    )
    .join('');
}

/** Quotes a text as one word for a shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
