// The schemas that other versions of the system have registered, fetched when a record names them.
import type { Ajv, ValidateFunction } from 'ajv';
import { EventLogUnavailable } from './errors.js';
import type { RegisteredSchema } from './registered-schema.js';
import type { RegistryClient } from './registry-client.js';

const schemasKept = 1_000;

export class ForeignSchemas {
  /** Each fetched schema with its subjects; null for an id whose schema belongs to no record type of this namespace. */
  readonly #byId = new Map<number, { schema: RegisteredSchema; subjects: ReadonlySet<string> } | null>();
  #library: ReturnType<RegistryClient['library']> | undefined;

  /** @param isOwnSubject whether a record type of this namespace has the subject */
  constructor(
    private readonly registry: RegistryClient,
    private readonly ajv: Ajv,
    private readonly isOwnSubject: (subject: string) => boolean,
  ) {}

  /** Whether the schema was fetched, also when no record type of this namespace uses it. */
  has(id: number): boolean {
    return this.#byId.has(id);
  }

  /** The schema with this id, if it was fetched and is registered under this subject. */
  find(subject: string, id: number): RegisteredSchema | undefined {
    const found = this.#byId.get(id);
    return found?.subjects.has(subject) ? found.schema : undefined;
  }

  /** Fetches a schema. @throws EventLogUnavailable when the registry is unavailable */
  async load(id: number): Promise<void> {
    if (this.#byId.size >= schemasKept) this.#byId.clear();
    const subjects = await this.#subjectsOf(id);
    // A schema that was registered a moment ago may not be on every registry node: the next record that names it asks
    // again.
    if (subjects === undefined) return;
    const validate = subjects.length === 0 ? undefined : await this.#check(id);
    this.#byId.set(id, validate ? { schema: { id, validate }, subjects: new Set(subjects) } : null);
  }

  /** The subjects of this namespace that a schema is registered under; undefined where the registry has no such schema. */
  async #subjectsOf(id: number): Promise<string[] | undefined> {
    const { status, body } = await this.registry.ask('GET', `/schemas/ids/${id}/versions`);
    if (status === 404 && errorCodeIn(body) === schemaNotFound) return undefined;
    if (status !== 200 || !Array.isArray(body))
      throw new EventLogUnavailable(`the schema registry answered ${status} when asked for schema ${id}`);
    return (body as { subject?: unknown }[])
      .map(({ subject }) => String(subject))
      .filter((subject) => this.isOwnSubject(subject));
  }

  /** The validator of a JSON Schema; undefined for a schema of another format. */
  async #check(id: number): Promise<ValidateFunction | undefined> {
    this.#library ??= this.registry.library({ ajvInstance: this.ajv });
    const library = await this.#library;
    const schema = await library.getSchema(id).catch((error: unknown) => {
      throw new EventLogUnavailable(`schema ${id} could not be read from the registry`, error);
    });
    return 'validate' in schema ? (schema.validate as ValidateFunction) : undefined;
  }
}

/** The registry's error code for an unknown schema id; a 404 from a proxy does not carry it. */
const schemaNotFound = 40403;

function errorCodeIn(body: unknown): number | undefined {
  return typeof body === 'object' &&
    body !== null &&
    'error_code' in body &&
    typeof body.error_code === 'number'
    ? body.error_code
    : undefined;
}
