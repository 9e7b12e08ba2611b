// Reads what docker-compose.yml says of each container: its settings and its limits.
import { parse } from 'yaml';

export interface ComposeContainer {
  name: string;
  environment: Readonly<Record<string, string>>;
  /** Keys of the container whose value is a text, such as `stop_grace_period`. */
  texts: Readonly<Record<string, string>>;
}

export function composeContainers(text: string): ComposeContainer[] {
  const { services } = parse(text, { merge: true }) as { services: Record<string, Record<string, unknown>> };
  return Object.entries(services).map(([name, container]) => ({
    name,
    environment: textsIn(container['environment']),
    texts: textsIn(container),
  }));
}

/** The entries of a mapping that are texts, numbers or flags, as Compose hands them to a process. */
function textsIn(mapping: unknown): Record<string, string> {
  const entries = Object.entries((mapping ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    entries.filter(([, value]) => typeof value !== 'object').map(([key, value]) => [key, String(value)]),
  );
}
