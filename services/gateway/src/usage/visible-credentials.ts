// The credentials of an organisation whose usage a caller may see, with their names.
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { Caller } from '../credentials/authenticate.js';
import { members, serviceAccounts, tokens } from '../identity/documents.js';
import { covers } from '../identity/state.js';

/**
 * The names of credentials that may use no OU that the caller may not use, those that have ended among them, by
 * `token:<id>`, `service_account:<id>` or `member:<id>`.
 */
export async function visibleCredentials(
  readModel: ReadModel,
  { organisationId, ouIds }: Pick<Caller, 'organisationId' | 'ouIds'>,
): Promise<Map<string, string>> {
  const organisation_id = { $eq: uuidToBinary(organisationId) };
  const [ofTokens, ofAccounts, ofMembers] = await withClassifiedErrors(() =>
    Promise.all([
      readModel.collection(tokens).find({ organisation_id }).toArray(),
      readModel.collection(serviceAccounts).find({ organisation_id }).toArray(),
      readModel.collection(members).find({ organisation_id }).toArray(),
    ]),
  );
  const credentials = [
    ...[...ofTokens, ...ofAccounts].map(({ value }) => ({ ...value, kind: value.kind as string })),
    ...ofMembers.map(({ value }) => ({ ...value, kind: 'member' })),
  ];
  return new Map(
    credentials
      .filter(({ ou_ids }) => covers(ouIds, ou_ids))
      .map(({ kind, id, name }) => [`${kind}:${id}`, name]),
  );
}
