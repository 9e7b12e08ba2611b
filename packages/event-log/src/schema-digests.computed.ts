// The digests of the schemas of all declared records. The bundler puts the result into the bundles: a process that starts from one makes
// no schema but those that it uses.
import { declaredRecords } from './declared-records.js';
import { digestOf, schemaTextOf } from './record-schema.js';

/** In the order of `declaredRecords`. */
export function digestsOfDeclaredRecords(): string[] {
  return declaredRecords().map((declaration) => digestOf(schemaTextOf(declaration)));
}
