// The schemas of the record types for the namespaces of tests. A start in a new namespace registers more than a hundred schemas;
// the tests of a run share one registration of them.
import { recordDeclarations, type RecordDeclaration } from '@lead-scoring/contracts';
import { digestOf } from '../record-schema.js';
import { createRegistryClient } from '../registry-client.js';
import { SchemaCatalogue, type CatalogueEntry } from '../schema-catalogue.js';
import { schemaDigestOf } from '../schema-digests.js';
import { createSchemaStore, subjectOf } from '../schemas.js';

type Entries = readonly (readonly [RecordDeclaration, CatalogueEntry])[];

/** By the registry's address. */
const registered = new Map<string, Promise<Entries>>();

/**
 * Writes the catalogue of a new namespace, so that processes which start in it find the ids of all declared schemas. A registry
 * gives a schema the same id under every subject. The subjects of the namespace do not exist: a test of what the system registers
 * must not call this.
 */
export async function listSharedSchemas(registryUrl: string, namespace: string): Promise<void> {
  const known = registered.get(registryUrl) ?? registerOnce(registryUrl);
  registered.set(registryUrl, known);
  const entries = (await known).map(([one, entry]) => [subjectOf(namespace, one), entry] as const);
  await new SchemaCatalogue(clientOf(registryUrl), namespace).write(new Map(entries));
}

const clientOf = (url: string) => createRegistryClient({ url, clientId: 'test', access: {} });

/** Registers the schemas in a namespace that all tests of these declarations share; the first of them registers, the others find. */
async function registerOnce(registryUrl: string): Promise<Entries> {
  const digests = recordDeclarations.map(
    (declaration) => [declaration, schemaDigestOf(declaration)] as const,
  );
  // Other declarations, as after a change of the checkout, have another namespace, and need not be compatible with these.
  const namespace = `shared-${digestOf(digests.map(([, digest]) => digest).join())}`;
  const schemas = createSchemaStore({ registry: clientOf(registryUrl), namespace });
  await schemas.register();
  return digests.map(([declaration, digest]) => [declaration, { id: schemas.own(declaration).id, digest }]);
}
