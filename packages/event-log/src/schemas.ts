// The JSON Schemas of all declared records: made from the declarations, registered, and kept compatible.
import { recordsOf, topics, type RecordDeclaration, type TopicName } from '@lead-scoring/contracts';
import { Ajv, type ValidateFunction } from 'ajv';
import { z } from 'zod';
import { EventLogError, EventLogUnavailable, isRetriable } from './errors.js';
import type { RegistryClient } from './registry-client.js';
import { pause } from './timing.js';

/** A schema as records carry it: the registry's id in front of the JSON, and the check that goes with it. */
export interface RegisteredSchema {
  readonly id: number;
  readonly validate: ValidateFunction;
}

/** The subject of a record type: `<namespace>.<topic>-<Type>`. */
export function subjectOf(namespace: string, declaration: Pick<RecordDeclaration, 'topic' | 'type'>): string {
  return `${namespace}.${declaration.topic}-${declaration.type}`;
}

/** The JSON Schema (draft 7) of a record's payload. Metadata and other custom types are open objects. */
export function jsonSchemaOf(declaration: RecordDeclaration): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(declaration.schema, { target: 'draft-7', io: 'output', unrepresentable: 'any' });
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
   * The schema with this id, if it is one of this record type: at once for those registered by this process, otherwise
   * after load().
   */
  find(declaration: RecordDeclaration, id: number): RegisteredSchema | undefined;
  /** Fetches a schema that another version of the system registered. Throws a retriable error when the registry is away. */
  load(id: number): Promise<void>;
  known(id: number): boolean;
}

interface SchemaBody {
  schemaType: string;
  schema: string;
}

const parallelRegistrations = 8;
const registrationAttempts = 5;
const foreignSchemasKept = 1_000;

/** The schemas of one namespace. Nothing is usable before register(). */
export function createSchemaStore(options: {
  registry: RegistryClient;
  namespace: string;
  declarations?: readonly RecordDeclaration[];
}): SchemaStore {
  const { namespace } = options;
  const { registry } = options;
  const ask: RegistryClient['ask'] = (method, path, body) => registry.ask(method, path, body);
  const declarations = options.declarations ?? declaredRecords();
  // Formats are stated for readers of the schema; the patterns beside them are what is checked.
  // Lengths count as they do everywhere else in JavaScript, which is also what the declarations mean: ajv's own way, by
  // code points, walks every text.
  const ajv = new Ajv({ strict: false, validateFormats: false, unicode: false, logger: false });
  const library = registry.library(ajv);
  const own = new Map<RecordDeclaration, RegisteredSchema>();
  const byTopicAndType = new Map(
    declarations.map((declaration) => [`${declaration.topic}/${declaration.type}`, declaration]),
  );
  const bySubject = new Map(
    declarations.map((declaration) => [subjectOf(namespace, declaration), declaration]),
  );
  const ownIds = new Map<number, Set<RecordDeclaration>>();
  /** Schemas of other versions, with the subjects that they are registered under; null for an id of something else. */
  const foreign = new Map<number, { schema: RegisteredSchema; subjects: Set<string> } | null>();

  /** Asks for BACKWARD. A registry may know no level of a subject that it does not have; then it refuses. */
  async function keepCompatible(name: string): Promise<boolean> {
    return (await ask('PUT', `/config/${name}`, { compatibility: 'BACKWARD' })).status === 200;
  }

  /** Throws the registry's reason, if it is because of the versions there that it does not take one more. */
  async function refuseIncompatible(
    declaration: RecordDeclaration,
    subject: string,
    body: SchemaBody,
  ): Promise<void> {
    const path = `/compatibility/subjects/${encodeURIComponent(subject)}/versions/latest?verbose=true`;
    const answer = await ask('POST', path, body);
    if (answer.status !== 200) return;
    const { is_compatible: isCompatible, reason } = answer.body as {
      is_compatible?: boolean;
      reason?: unknown;
    };
    if (isCompatible === false) throw incompatible(subject, declaration, String(reason));
  }

  async function registerNew(
    declaration: RecordDeclaration,
    subject: string,
    body: SchemaBody,
  ): Promise<number> {
    const name = encodeURIComponent(subject);
    // Before the schema: who made the subject may have died before it set its level.
    const isKept = await keepCompatible(name);
    const answer = await ask('POST', `/subjects/${name}/versions`, body);
    const id = idIn(answer.body);
    if (answer.status !== 200 || id === undefined) {
      await refuseIncompatible(declaration, subject, body);
      throw new EventLogUnavailable(
        `subject ${subject} could not be registered: the registry answered ${answer.status} ${JSON.stringify(answer.body)}`,
      );
    }
    if (!isKept && !(await keepCompatible(name)))
      throw new EventLogUnavailable(`the schema registry did not take the compatibility level of ${subject}`);
    return id;
  }

  async function registerOne(declaration: RecordDeclaration): Promise<void> {
    const subject = subjectOf(namespace, declaration);
    const schema = JSON.stringify(jsonSchemaOf(declaration));
    const body = { schemaType: 'JSON', schema };
    const found = await ask('POST', `/subjects/${encodeURIComponent(subject)}`, body);
    const id =
      (found.status === 200 ? idIn(found.body) : undefined) ??
      (await registerNew(declaration, subject, body));
    let check: ValidateFunction | undefined;
    own.set(declaration, {
      id,
      // Made when first needed: a service reads and writes few of all types, and to compile them all takes most of a second.
      get validate() {
        check ??= ajv.compile(JSON.parse(schema) as object);
        return check;
      },
    });
    const sharing = ownIds.get(id);
    if (sharing) sharing.add(declaration);
    else ownIds.set(id, new Set([declaration]));
  }

  /** Another process may register the same subject at the same moment; then one of the two is refused in passing. */
  async function insist(declaration: RecordDeclaration): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await registerOne(declaration);
        return;
      } catch (error) {
        if (!isRetriable(error) || attempt === registrationAttempts) throw error;
        await pause(attempt * 200);
      }
    }
  }

  return {
    async register() {
      // Each process in an order of its own: of those that start together one registers a subject, the others find it.
      const waiting = declarations
        .filter((declaration) => !own.has(declaration))
        .map((declaration) => ({ declaration, place: Math.random() }))
        .sort((a, b) => a.place - b.place)
        .map(({ declaration }) => declaration);
      await Promise.all(
        Array.from({ length: parallelRegistrations }, async () => {
          for (let next = waiting.shift(); next; next = waiting.shift()) await insist(next);
        }),
      );
    },
    own(declaration) {
      const found = own.get(declaration);
      if (found) return found;
      const declared = byTopicAndType.get(`${declaration.topic}/${declaration.type}`);
      if (declared) {
        const same = own.get(declared);
        if (same) return same;
        throw new EventLogError('not_prepared', 'call prepare() before records are written or read');
      }
      throw new EventLogError(
        'unknown_record_type',
        `${declaration.type} is not declared for ${declaration.topic}: declare it in contracts`,
      );
    },
    declarationOf: (topic, type) => byTopicAndType.get(`${topic}/${type}`),
    find(declaration, id) {
      if (ownIds.get(id)?.has(declaration)) return own.get(declaration);
      const other = foreign.get(id);
      return other?.subjects.has(subjectOf(namespace, declaration)) ? other.schema : undefined;
    },
    known: (id) => ownIds.has(id) || foreign.has(id),
    async load(id) {
      if (foreign.size >= foreignSchemasKept) foreign.clear();
      const versions = await ask('GET', `/schemas/ids/${id}/versions`);
      if (versions.status === 404 && errorCodeIn(versions.body) === schemaNotFound) {
        // Only just registered it may not be known everywhere: it is asked for again with the next record that names it.
        return;
      }
      if (versions.status !== 200 || !Array.isArray(versions.body))
        throw new EventLogUnavailable(
          `the schema registry answered ${versions.status} when asked for schema ${id}`,
        );
      const subjects = (versions.body as { subject?: unknown }[])
        .map(({ subject }) => String(subject))
        .filter((subject) => bySubject.has(subject));
      if (subjects.length === 0) {
        foreign.set(id, null);
        return;
      }
      const schema = await library.getSchema(id).catch((error: unknown) => {
        throw new EventLogUnavailable(`schema ${id} could not be read from the registry`, error);
      });
      if (!('validate' in schema)) {
        foreign.set(id, null);
        return;
      }
      foreign.set(id, {
        schema: { id, validate: schema.validate as ValidateFunction },
        subjects: new Set(subjects),
      });
    },
  };
}

function incompatible(subject: string, declaration: RecordDeclaration, reason: string): EventLogError {
  return new EventLogError(
    'incompatible_schema',
    `the schema of ${declaration.type} on ${declaration.topic} cannot read what was written before (subject ${subject}): ` +
      `${reason}. Make new fields optional, keep the old ones, or declare a new record type.`,
  );
}

/** How a registry says that it has no schema of an id, and not something in front of it that has no such page. */
const schemaNotFound = 40403;

function errorCodeIn(body: unknown): number | undefined {
  return typeof body === 'object' &&
    body !== null &&
    'error_code' in body &&
    typeof body.error_code === 'number'
    ? body.error_code
    : undefined;
}

function idIn(body: unknown): number | undefined {
  return typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'number'
    ? body.id
    : undefined;
}
