// The digests of the schemas of all declared records. The bundler puts the result into the bundles: a process that starts from one makes
// no schema but those that it uses.
import { recordDeclarations } from '@lead-scoring/contracts';
import { digestOf, schemaTextOf } from './record-schema.js';

/** In the order of `recordDeclarations`. */
export function digestsOfDeclaredRecords(): string[] {
  return recordDeclarations.map((declaration) => digestOf(schemaTextOf(declaration)));
}
