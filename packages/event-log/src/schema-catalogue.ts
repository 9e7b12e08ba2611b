// The catalogue of a namespace: a schema in the registry that lists the ids of all record schemas. A process that starts finds
// them with two requests, in place of one request for each of more than a hundred record types.
import type { RegistryClient } from './registry-client.js';
import { repeated } from './schema-registration.js';

export interface CatalogueEntry {
  /** The registry's id of the schema. */
  id: number;
  /** The digest of the schema that was registered: another version of the system may declare another one. */
  digest: string;
}

/** Catalogue entries by the subject of the schema. */
export type CatalogueEntries = ReadonlyMap<string, CatalogueEntry>;

/** The catalogue only saves requests: a registry that has none, or takes none, is asked for each schema. */
export class SchemaCatalogue {
  readonly #subject: string;

  constructor(
    private readonly registry: RegistryClient,
    private readonly namespace: string,
  ) {
    this.#subject = `${namespace}.catalogue`;
  }

  /** The entries; none when the registry has no catalogue. @throws EventLogUnavailable when the registry does not answer */
  async read(): Promise<CatalogueEntries> {
    const path = `/subjects/${encodeURIComponent(this.#subject)}/versions/latest`;
    const { status, body } = await repeated(() => this.registry.ask('GET', path));
    return status === 200 ? entriesIn(body) : new Map();
  }

  /** Registers the entries as the newest version of the catalogue. Never rejects. */
  async write(entries: CatalogueEntries): Promise<void> {
    const path = `/subjects/${encodeURIComponent(this.#subject)}/versions`;
    // Sorted, so that processes that start together write the same version.
    const listed = Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
    const schema = JSON.stringify({
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: `The ids of the record schemas of ${this.namespace}`,
      const: listed,
    });
    try {
      const isAnyAllowed = await this.#allowAnyVersion();
      await this.registry.ask('POST', path, { schemaType: 'JSON', schema });
      if (!isAnyAllowed) await this.#allowAnyVersion();
    } catch {
      // The next process that starts asks for each schema, and writes the catalogue again.
    }
  }

  /** Versions of the catalogue need not be compatible. Some registries refuse a level for a subject that does not exist yet. */
  async #allowAnyVersion(): Promise<boolean> {
    const path = `/config/${encodeURIComponent(this.#subject)}`;
    const { status } = await this.registry.ask('PUT', path, { compatibility: 'NONE' });
    return status === 200;
  }
}

/** The entries in the registry's answer with a version of the catalogue; none when it has another form. */
function entriesIn(answer: unknown): CatalogueEntries {
  const { schema } = answer as { schema?: unknown };
  if (typeof schema !== 'string') return new Map();
  const { const: listed } = JSON.parse(schema) as { const?: Record<string, Partial<CatalogueEntry>> };
  return new Map(
    Object.entries(listed ?? {}).flatMap(([subject, { id, digest }]): [string, CatalogueEntry][] =>
      typeof id === 'number' && typeof digest === 'string' ? [[subject, { id, digest }]] : [],
    ),
  );
}
