// The JSON Schema of a record's declaration. A process makes the text of a schema and its validator once, and only if it needs them: a
// service uses few of all record types, and to make those of all of them takes most of a second.
import { createHash } from 'node:crypto';
import { jsonSchemaOf, type RecordDeclaration } from '@lead-scoring/contracts';
import { Ajv, type ValidateFunction } from 'ajv';

/**
 * Compiles schemas of records. Formats only inform readers of the schema; the patterns beside them are validated. Lengths count UTF-16
 * code units, as in the declarations; ajv's default counts code points, which scans every text. A schema is compiled at the first record
 * of its type, while the process has requests to answer: ajv's optimisation of the code takes more than half of that time, and
 * the optimised code validates no faster.
 */
export const schemaCompiler = new Ajv({
  strict: false,
  validateFormats: false,
  // oxlint-disable-next-line typescript/no-deprecated -- ajv marks the option only because others should not want it
  unicode: false,
  logger: false,
  code: { optimize: false },
});

export function digestOf(schema: string): string {
  return createHash('sha256').update(schema).digest('base64url').slice(0, 22);
}

/** A function of declarations that is called once for each. */
function oncePerDeclaration<Value>(
  make: (declaration: RecordDeclaration) => Value,
): (declaration: RecordDeclaration) => Value {
  const made = new WeakMap<RecordDeclaration, { value: Value }>();
  return (declaration) => {
    const known = made.get(declaration);
    if (known) return known.value;
    const value = make(declaration);
    made.set(declaration, { value });
    return value;
  };
}

/** The schema as it is registered: JSON. */
export const schemaTextOf = oncePerDeclaration((declaration) => JSON.stringify(jsonSchemaOf(declaration)));

/** The validator of records of the declaration. */
export const validatorOf: (declaration: RecordDeclaration) => ValidateFunction = oncePerDeclaration(
  (declaration) => schemaCompiler.compile(JSON.parse(schemaTextOf(declaration)) as object),
);
