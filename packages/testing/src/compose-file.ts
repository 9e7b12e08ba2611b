// Reads what docker-compose.yml says of each container: its settings and its times. It knows the parts of YAML that the file
// uses: nested mappings, anchors of mappings and of texts, aliases, and merges.

export interface ComposeContainer {
  name: string;
  environment: Readonly<Record<string, string>>;
  /** Keys of the container whose value is a text, such as `stop_grace_period`. */
  texts: Readonly<Record<string, string>>;
}

interface Mapping {
  [key: string]: string | Mapping;
}

export function composeContainers(text: string): ComposeContainer[] {
  const { services } = readMappings(text);
  if (services === undefined || typeof services === 'string') throw new Error('the file has no services');
  return Object.entries(services).map(([name, container]) => {
    if (typeof container === 'string') throw new Error(`the container ${name} is a text`);
    const { environment } = container;
    return {
      name,
      environment: typeof environment === 'object' ? textsOf(environment) : {},
      texts: textsOf(container),
    };
  });
}

function textsOf(mapping: Mapping): Record<string, string> {
  return Object.fromEntries(
    Object.entries(mapping).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

const line = /^(?<indent> *)(?<key>[\w<.-]+):(?: (?<rest>.*))?$/;

function readMappings(text: string): Mapping {
  const root: Mapping = {};
  const anchors = new Map<string, string | Mapping>();
  const open: { indent: number; mapping: Mapping }[] = [{ indent: -1, mapping: root }];
  for (const written of text.split('\n')) {
    const { indent = '', key = '', rest = '' } = line.exec(written)?.groups ?? {};
    // Comments, and items of lists, which name no setting.
    if (key === '') continue;
    while ((open.at(-1)?.indent ?? -1) >= indent.length) open.pop();
    const parent = open.at(-1)?.mapping ?? root;
    const [, anchor, value = ''] = /^(?:&([\w-]+) ?)?(.*)$/.exec(rest) ?? [];
    const alias = /^\*([\w-]+)$/.exec(value)?.[1];
    const content = alias === undefined ? unquoted(value) : anchors.get(alias);
    if (content === undefined) throw new Error(`${written.trim()}: the anchor is not known`);
    if (key === '<<' && typeof content === 'object') {
      Object.assign(parent, content);
      continue;
    }
    const entry = content === '' ? {} : content;
    parent[key] = entry;
    if (anchor !== undefined) anchors.set(anchor, entry);
    if (typeof entry === 'object' && alias === undefined)
      open.push({ indent: indent.length, mapping: entry });
  }
  return root;
}

function unquoted(value: string): string {
  return /^'(.*)'$/.exec(value)?.[1] ?? value;
}
