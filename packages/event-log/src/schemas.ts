// The JSON Schemas of all declared records: generated from the declarations and registered as BACKWARD compatible.
import {
  jsonSchemaOf,
  recordsOf,
  topics,
  type RecordDeclaration,
  type TopicName,
} from '@lead-scoring/contracts';
import { Ajv } from 'ajv';
import { EventLogError } from './errors.js';
import { ForeignSchemas } from './foreign-schemas.js';
import { OwnSchema, type RegisteredSchema } from './registered-schema.js';
import type { RegistryClient } from './registry-client.js';
import { digestOf, SchemaCatalogue, type CatalogueEntries, type CatalogueEntry } from './schema-catalogue.js';
import { registerSchema, type Registration } from './schema-registration.js';

/** The subject of a record type: `<namespace>.<topic>-<Type>`. */
export function subjectOf(namespace: string, declaration: Pick<RecordDeclaration, 'topic' | 'type'>): string {
  return `${namespace}.${declaration.topic}-${declaration.type}`;
}

/** Every record type declared in contracts. */
export function declaredRecords(): RecordDeclaration[] {
  return topics.flatMap((topic) => [...recordsOf(topic.name)]);
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
  /** Made by the first call of `register`, which is repeated while the registry starts. */
  #registrations: readonly Registration<RecordDeclaration>[] | undefined;
  readonly #own = new Map<RecordDeclaration, RegisteredSchema>();
  /** Declarations by the id of their schema: several may share one. */
  readonly #ownIds = new Map<number, Set<RecordDeclaration>>();
  readonly #foreign: ForeignSchemas;
  // Formats only inform readers of the schema; the patterns beside them are validated. Lengths count UTF-16 code units,
  // as in the declarations; ajv's default counts code points, which scans every text. A schema is compiled at the first record
  // of its type, while the process has requests to answer: ajv's optimisation of the code takes more than half of that time, and
  // the optimised code validates no faster.
  readonly #ajv = new Ajv({
    strict: false,
    validateFormats: false,
    // oxlint-disable-next-line typescript/no-deprecated -- ajv marks the option only because others should not want it
    unicode: false,
    logger: false,
    code: { optimize: false },
  });

  constructor({ registry, namespace, declarations = declaredRecords() }: SchemaStoreOptions) {
    this.#registry = registry;
    this.#catalogue = new SchemaCatalogue(registry, namespace);
    this.#namespace = namespace;
    this.#declarations = declarations;
    this.#byTopicAndType = new Map(declarations.map((one) => [`${one.topic}/${one.type}`, one]));
    const subjects = new Set(declarations.map((one) => subjectOf(namespace, one)));
    this.#foreign = new ForeignSchemas(registry, this.#ajv, (subject) => subjects.has(subject));
  }

  async register(): Promise<void> {
    this.#registrations ??= this.#declarations.map((declaration) => this.#registrationOf(declaration));
    const registrations = this.#registrations.filter(({ declaration }) => !this.#own.has(declaration));
    if (registrations.length === 0) return;
    const catalogue = await this.#readCatalogue(registrations);
    for (const one of registrations) {
      const entry = catalogue.get(one.subject);
      if (entry?.digest === digestOf(one.schema)) this.#add(one, entry.id);
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

  #registrationOf(declaration: RecordDeclaration): Registration<RecordDeclaration> {
    const subject = subjectOf(this.#namespace, declaration);
    return { declaration, subject, schema: JSON.stringify(jsonSchemaOf(declaration)) };
  }

  /**
   * The catalogue; empty when the registry gives a schema picked at random another id, as a registry does that was filled
   * anew and got the catalogue of its predecessor.
   */
  async #readCatalogue(registrations: readonly Registration<RecordDeclaration>[]): Promise<CatalogueEntries> {
    const catalogue = await this.#catalogue.read();
    const listed = registrations.filter(
      ({ subject, schema }) => catalogue.get(subject)?.digest === digestOf(schema),
    );
    const sample = listed[Math.floor(Math.random() * listed.length)];
    if (!sample) return catalogue;
    const id = await registerSchema(this.#registry, sample);
    return id === catalogue.get(sample.subject)?.id ? catalogue : new Map<string, CatalogueEntry>();
  }

  /** Registers each schema, or finds the registered one. @returns the entries for the catalogue */
  async #registerAll(
    registrations: readonly Registration<RecordDeclaration>[],
  ): Promise<Map<string, CatalogueEntry>> {
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
          const id = await registerSchema(this.#registry, next);
          this.#add(next, id);
          entries.set(next.subject, { id, digest: digestOf(next.schema) });
        }
      }),
    );
    return entries;
  }

  #add({ declaration, schema }: Registration<RecordDeclaration>, id: number): void {
    this.#own.set(declaration, new OwnSchema(id, this.#ajv, schema));
    const sharing = this.#ownIds.get(id);
    if (sharing) sharing.add(declaration);
    else this.#ownIds.set(id, new Set([declaration]));
  }
}
