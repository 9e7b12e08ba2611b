// The JSON Schemas of all declared records: generated from the declarations and registered as BACKWARD compatible.
import { recordDeclarations, type RecordDeclaration, type TopicName } from '@lead-scoring/contracts';
import { EventLogError } from './errors.js';
import { ForeignSchemas } from './foreign-schemas.js';
import { schemaCompiler, schemaTextOf } from './record-schema.js';
import { OwnSchema, type RegisteredSchema } from './registered-schema.js';
import type { RegistryClient } from './registry-client.js';
import { SchemaCatalogue, type CatalogueEntries, type CatalogueEntry } from './schema-catalogue.js';
import { schemaDigestOf } from './schema-digests.js';
import { registerSchema } from './schema-registration.js';

/** The subject of a record type: `<namespace>.<topic>-<Type>`. */
export function subjectOf(namespace: string, declaration: Pick<RecordDeclaration, 'topic' | 'type'>): string {
  return `${namespace}.${declaration.topic}-${declaration.type}`;
}

export interface SchemaStore {
  /** Registers every declared record type. */
  register(): Promise<void>;
  /** @throws EventLogError `not_prepared` before the record types are registered */
  assertRegistered(): void;
  /** The schema that this process writes records of a declaration with. */
  own(declaration: RecordDeclaration): RegisteredSchema;
  declarationOf(topic: TopicName, type: string): RecordDeclaration | undefined;
  /**
   * The schema with this id, if it belongs to this record type: at once for schemas registered by this process,
   * otherwise after load().
   */
  find(declaration: RecordDeclaration, id: number): RegisteredSchema | undefined;
  /**
   * Fetches a schema that another version of the system registered. Throws a retriable error when the registry is
   * unavailable.
   */
  load(id: number): Promise<void>;
  known(id: number): boolean;
}

const parallelRegistrations = 8;

/** A record type, and the subject that its schema is registered under. */
interface NamedRecord {
  declaration: RecordDeclaration;
  subject: string;
}

function notPrepared(): EventLogError {
  return new EventLogError('not_prepared', 'call prepare() before records are written or read');
}

export interface SchemaStoreOptions {
  registry: RegistryClient;
  namespace: string;
  declarations?: readonly RecordDeclaration[];
}

/** The schemas of one namespace; usable after register(). */
export function createSchemaStore(options: SchemaStoreOptions): SchemaStore {
  return new NamespaceSchemas(options);
}

class NamespaceSchemas implements SchemaStore {
  readonly #registry: RegistryClient;
  readonly #catalogue: SchemaCatalogue;
  readonly #namespace: string;
  readonly #declarations: readonly RecordDeclaration[];
  readonly #byTopicAndType: ReadonlyMap<string, RecordDeclaration>;
  readonly #own = new Map<RecordDeclaration, RegisteredSchema>();
  /** Declarations by the id of their schema: several may share one. */
  readonly #ownIds = new Map<number, Set<RecordDeclaration>>();
  readonly #foreign: ForeignSchemas;

  constructor({ registry, namespace, declarations = recordDeclarations }: SchemaStoreOptions) {
    this.#registry = registry;
    this.#catalogue = new SchemaCatalogue(registry, namespace);
    this.#namespace = namespace;
    this.#declarations = declarations;
    this.#byTopicAndType = new Map(declarations.map((one) => [`${one.topic}/${one.type}`, one]));
    const subjects = new Set(declarations.map((one) => subjectOf(namespace, one)));
    this.#foreign = new ForeignSchemas(registry, schemaCompiler, (subject) => subjects.has(subject));
  }

  async register(): Promise<void> {
    const registrations = this.#declarations
      .filter((declaration) => !this.#own.has(declaration))
      .map((declaration) => ({ declaration, subject: subjectOf(this.#namespace, declaration) }));
    if (registrations.length === 0) return;
    const catalogue = await this.#readCatalogue(registrations);
    for (const one of registrations) {
      const entry = catalogue.get(one.subject);
      if (entry?.digest === schemaDigestOf(one.declaration)) this.#add(one, entry.id);
    }
    const others = registrations.filter(({ declaration }) => !this.#own.has(declaration));
    if (others.length === 0) return;
    const registered = await this.#registerAll(others);
    await this.#catalogue.write(new Map([...catalogue, ...registered]));
  }

  own(declaration: RecordDeclaration): RegisteredSchema {
    const found = this.#own.get(declaration);
    if (found) return found;
    const { topic, type } = declaration;
    const declared = this.#byTopicAndType.get(`${topic}/${type}`);
    if (!declared)
      throw new EventLogError(
        'unknown_record_type',
        `${type} is not declared for ${topic}: declare it in contracts`,
      );
    const same = this.#own.get(declared);
    if (same) return same;
    throw notPrepared();
  }

  assertRegistered(): void {
    if (this.#own.size === 0) throw notPrepared();
  }

  declarationOf(topic: TopicName, type: string): RecordDeclaration | undefined {
    return this.#byTopicAndType.get(`${topic}/${type}`);
  }

  find(declaration: RecordDeclaration, id: number): RegisteredSchema | undefined {
    if (this.#ownIds.get(id)?.has(declaration)) return this.#own.get(declaration);
    return this.#foreign.find(subjectOf(this.#namespace, declaration), id);
  }

  known(id: number): boolean {
    return this.#ownIds.has(id) || this.#foreign.has(id);
  }

  load(id: number): Promise<void> {
    return this.#foreign.load(id);
  }

  /**
   * The catalogue; empty when the registry gives a schema picked at random another id, as a registry does that was filled
   * anew and got the catalogue of its predecessor.
   */
  async #readCatalogue(registrations: readonly NamedRecord[]): Promise<CatalogueEntries> {
    const catalogue = await this.#catalogue.read();
    const listed = registrations.filter(
      ({ subject, declaration }) => catalogue.get(subject)?.digest === schemaDigestOf(declaration),
    );
    const sample = listed[Math.floor(Math.random() * listed.length)];
    if (!sample) return catalogue;
    const id = await this.#registerOne(sample);
    return id === catalogue.get(sample.subject)?.id ? catalogue : new Map<string, CatalogueEntry>();
  }

  /** Registers each schema, or finds the registered one. @returns the entries for the catalogue */
  async #registerAll(registrations: readonly NamedRecord[]): Promise<Map<string, CatalogueEntry>> {
    // Each process registers in a random order: of processes that start together one registers a subject, and the
    // others find it.
    const waiting = registrations
      .map((registration) => ({ registration, place: Math.random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ registration }) => registration);
    const entries = new Map<string, CatalogueEntry>();
    await Promise.all(
      Array.from({ length: parallelRegistrations }, async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          const id = await this.#registerOne(next);
          this.#add(next, id);
          entries.set(next.subject, { id, digest: schemaDigestOf(next.declaration) });
        }
      }),
    );
    return entries;
  }

  #registerOne({ declaration, subject }: NamedRecord): Promise<number> {
    return registerSchema(this.#registry, { declaration, subject, schema: schemaTextOf(declaration) });
  }

  #add({ declaration }: NamedRecord, id: number): void {
    this.#own.set(declaration, new OwnSchema(id, declaration));
    const sharing = this.#ownIds.get(id);
    if (sharing) sharing.add(declaration);
    else this.#ownIds.set(id, new Set([declaration]));
  }
}
