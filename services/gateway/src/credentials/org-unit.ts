// Chooses the organizational unit of a request (API.md, Conventions). Pure; look-ups are passed in as functions.
import { workingUnit } from '../identity/state.js';
import { problem } from '../problem.js';

export interface OrgUnitChoice {
  /** The credential's OUs; null: all of the organisation. */
  ouIds: readonly string[] | null;
  /** The header X-OU-Id. */
  header: string | undefined;
  /** All OUs of the organisation that have not ended. `fresh`: not older than this call. */
  organisationUnits: (fresh: boolean) => Promise<ReadonlySet<string>>;
  /** Whether an OU has ended according to the log, which may be newer than the look-ups. */
  hasEnded: (ouId: string) => boolean;
  /** The active OU as it was when the credential was looked up, together with `ouIds`. */
  knownActiveOuId: string | null;
  /** The OU that the credential made its active one, not older than this call. */
  activeOuId: () => Promise<string | null>;
}

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The header X-OU-Id, else the only OU, else the active one.
 * @throws ProblemError 403 for an OU in the header that the credential may not use, 400 when none is chosen
 */
export async function chooseOrgUnit(choice: OrgUnitChoice): Promise<string> {
  if (choice.ouIds?.length === 0)
    throw problem(
      'org_unit_not_allowed',
      'This token may use no organizational unit any more: its member may use none of those that it is limited to. An admin can change that with PATCH /members/{id}.',
    );
  if (choice.header !== undefined) {
    const ouId = choice.header.toLowerCase();
    if (form.test(ouId) && (await mayUse(choice, ouId))) return ouId;
    throw problem(
      'org_unit_not_allowed',
      form.test(ouId)
        ? `The header X-OU-Id names the organizational unit ${ouId}, which has ended or which this credential may not use. GET /org-units lists the units that it may use; without the header its active one is used.`
        : 'The header X-OU-Id must be the id (a UUID) of an organizational unit that this credential may use. GET /org-units lists them; without the header the active one is used.',
    );
  }
  const allowed = choice.ouIds ?? [...(await choice.organisationUnits(false))];
  // When one of two OUs has just ended on the log, the other is not chosen by itself: the caller must name it.
  const only = allowed.length === 1 ? workingUnit(allowed, choice.knownActiveOuId) : null;
  if (only !== null && !choice.hasEnded(only)) return only;
  const active = await choice.activeOuId();
  if (active !== null) {
    if (await mayUse(choice, active)) return active;
    throw problem(
      'org_unit_not_selected',
      `The active organizational unit of this credential, ${active}, has ended, or the credential may not use it. Set another one with POST /org-units/active, or name one in the header X-OU-Id.`,
    );
  }
  throw problem(
    'org_unit_not_selected',
    'This credential may use several organizational units and none is active. Set one with POST /org-units/active, or name it in the header X-OU-Id.',
  );
}

/**
 * An OU that the path or the body names.
 * @throws ProblemError 404 when the credential may not use it
 */
export async function namedOrgUnit(choice: OrgUnitChoice, ouId: string): Promise<string> {
  if (await mayUse(choice, ouId.toLowerCase())) return ouId.toLowerCase();
  throw problem(
    'org_unit_not_found',
    `The request names the organizational unit ${ouId}, which does not exist or which this credential may not use. GET /org-units lists the units that it may use.`,
  );
}

async function mayUse({ ouIds, organisationUnits, hasEnded }: OrgUnitChoice, ouId: string): Promise<boolean> {
  if (hasEnded(ouId)) return false;
  if (ouIds) return ouIds.includes(ouId);
  // The second read finds an OU that another instance has just created.
  return (await organisationUnits(false)).has(ouId) || (await organisationUnits(true)).has(ouId);
}
