// The digests of record schemas. By its digest, a schema is found in the catalogue of registered ones.
import { recordDeclarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { digestOf, schemaTextOf } from './record-schema.js';
import { digestsOfDeclaredRecords } from './schema-digests.computed.js';

let declared: ReadonlyMap<RecordDeclaration, string> | undefined;

/** The digest of the schema of a declared record, or of another declaration, as tests have them. */
export function schemaDigestOf(declaration: RecordDeclaration): string {
  declared ??= digestsByDeclaration();
  return declared.get(declaration) ?? digestOf(schemaTextOf(declaration));
}

function digestsByDeclaration(): ReadonlyMap<RecordDeclaration, string> {
  const digests = digestsOfDeclaredRecords();
  return new Map(recordDeclarations.map((declaration, index) => [declaration, digests[index] ?? '']));
}
