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
import { registerSchema } from './schema-registration.js';

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
  readonly #namespace: string;
  readonly #declarations: readonly RecordDeclaration[];
  readonly #byTopicAndType: ReadonlyMap<string, RecordDeclaration>;
  readonly #own = new Map<RecordDeclaration, RegisteredSchema>();
  /** Declarations by the id of their schema: several may share one. */
  readonly #ownIds = new Map<number, Set<RecordDeclaration>>();
  readonly #foreign: ForeignSchemas;
  // Formats only inform readers of the schema; the patterns beside them are validated. Lengths count UTF-16 code units,
  // as in the declarations; ajv's default counts code points, which scans every text.
  readonly #ajv = new Ajv({ strict: false, validateFormats: false, unicode: false, logger: false });

  constructor({ registry, namespace, declarations = declaredRecords() }: SchemaStoreOptions) {
    this.#registry = registry;
    this.#namespace = namespace;
    this.#declarations = declarations;
    this.#byTopicAndType = new Map(declarations.map((one) => [`${one.topic}/${one.type}`, one]));
    const subjects = new Set(declarations.map((one) => subjectOf(namespace, one)));
    this.#foreign = new ForeignSchemas(registry, this.#ajv, (subject) => subjects.has(subject));
  }

  async register(): Promise<void> {
    // Each process registers in a random order: of processes that start together one registers a subject, and the
    // others find it.
    const waiting = this.#declarations
      .filter((declaration) => !this.#own.has(declaration))
      .map((declaration) => ({ declaration, place: Math.random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ declaration }) => declaration);
    await Promise.all(
      Array.from({ length: parallelRegistrations }, async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await this.#register(next);
      }),
    );
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
    throw new EventLogError('not_prepared', 'call prepare() before records are written or read');
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

  async #register(declaration: RecordDeclaration): Promise<void> {
    const subject = subjectOf(this.#namespace, declaration);
    const schema = JSON.stringify(jsonSchemaOf(declaration));
    const id = await registerSchema(this.#registry, { declaration, subject, schema });
    this.#own.set(declaration, new OwnSchema(id, this.#ajv, schema));
    const sharing = this.#ownIds.get(id);
    if (sharing) sharing.add(declaration);
    else this.#ownIds.set(id, new Set([declaration]));
  }
}
