// Registers schemas, each under its subject with BACKWARD compatibility.
import type { RecordDeclaration } from '@lead-scoring/contracts';
import { EventLogError, EventLogUnavailable, isRetriable } from './errors.js';
import type { RegistryClient } from './registry-client.js';
import { pause } from './timing.js';

/** A registry that starts, or refuses one of two concurrent registrations, is asked again for about two seconds. */
const attempts = 10;
const retryMs = 200;

/** A record type's JSON Schema, and the subject that it is registered under. */
export interface Registration {
  declaration: Pick<RecordDeclaration, 'topic' | 'type'>;
  subject: string;
  /** The schema as JSON. */
  schema: string;
}

/**
 * Registers a schema, or finds the registered one. When another process registers the same subject at the same time,
 * the registry refuses one of the two transiently, so the request is repeated.
 * @returns the registry's id of the schema
 */
export async function registerSchema(registry: RegistryClient, registration: Registration): Promise<number> {
  return repeated(
    async () => (await findId(registry, registration)) ?? (await registerNew(registry, registration)),
  );
}

/** Asks until the answer is no retriable error, for about two seconds. */
export async function repeated<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isRetriable(error) || attempt === attempts) throw error;
      await pause(retryMs);
    }
  }
}

async function findId(
  registry: RegistryClient,
  { subject, schema }: Registration,
): Promise<number | undefined> {
  const found = await registry.ask('POST', `/subjects/${encodeURIComponent(subject)}`, bodyOf(schema));
  return found.status === 200 ? idIn(found.body) : undefined;
}

async function registerNew(registry: RegistryClient, registration: Registration): Promise<number> {
  const { subject, schema } = registration;
  const name = encodeURIComponent(subject);
  // Set before the schema: the process that created the subject may have died before it set the compatibility level.
  const isKept = await keepCompatible(registry, name);
  const answer = await registry.ask('POST', `/subjects/${name}/versions`, bodyOf(schema));
  const id = idIn(answer.body);
  if (answer.status !== 200 || id === undefined) {
    await refuseIncompatible(registry, registration);
    throw new EventLogUnavailable(
      `subject ${subject} could not be registered: the registry answered ${answer.status} ${JSON.stringify(answer.body)}`,
    );
  }
  if (!isKept && !(await keepCompatible(registry, name)))
    throw new EventLogUnavailable(`the schema registry did not take the compatibility level of ${subject}`);
  return id;
}

/** Sets BACKWARD compatibility. Some registries refuse a level for a subject that does not exist yet. */
async function keepCompatible(registry: RegistryClient, name: string): Promise<boolean> {
  const { status } = await registry.ask('PUT', `/config/${name}`, { compatibility: 'BACKWARD' });
  return status === 200;
}

/**
 * @throws EventLogError `incompatible_schema` with the registry's reason, when an earlier version of the subject caused
 * the refusal
 */
async function refuseIncompatible(
  registry: RegistryClient,
  { declaration, subject, schema }: Registration,
): Promise<void> {
  const path = `/compatibility/subjects/${encodeURIComponent(subject)}/versions/latest?verbose=true`;
  const answer = await registry.ask('POST', path, bodyOf(schema));
  if (answer.status !== 200) return;
  const { is_compatible: isCompatible, reason } = answer.body as {
    is_compatible?: boolean;
    reason?: unknown;
  };
  if (isCompatible === false) throw incompatible(subject, declaration, String(reason));
}

function bodyOf(schema: string) {
  return { schemaType: 'JSON', schema };
}

function incompatible(
  subject: string,
  declaration: Registration['declaration'],
  reason: string,
): EventLogError {
  return new EventLogError(
    'incompatible_schema',
    `the schema of ${declaration.type} on ${declaration.topic} cannot read records written with its earlier version (subject ${subject}): ` +
      `${reason}. Make new fields optional, keep the old ones, or declare a new record type.`,
  );
}

function idIn(body: unknown): number | undefined {
  return typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'number'
    ? body.id
    : undefined;
}
