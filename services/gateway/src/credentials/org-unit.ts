// In which organizational unit a request works (API.md, Conventions). Pure; what must be looked up comes as functions.
import { workingUnit } from '../identity/state.js';
import { problem } from '../problem.js';

export interface OrgUnitChoice {
  /** The credential's OUs; null: all of the organisation. */
  ouIds: readonly string[] | null;
  /** The header X-OU-Id. */
  header: string | undefined;
  /** All OUs of the organisation that have not ended. `fresh`: not older than this call. */
  organisationUnits: (fresh: boolean) => Promise<ReadonlySet<string>>;
  /** Whether the log says that an OU has ended; what was looked up may be older. */
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
  if (choice.header !== undefined) {
    const ouId = choice.header.toLowerCase();
    if (form.test(ouId) && (await mayUse(choice, ouId))) return ouId;
    throw problem(
      'org_unit_not_allowed',
      form.test(ouId)
        ? `The header X-OU-Id names the organizational unit ${ouId}, which has ended or may not be used by this credential. GET /org-units lists those that it may; without the header its active one counts.`
        : 'The header X-OU-Id must be the id (a UUID) of an organizational unit that this credential may use. GET /org-units lists them; without the header the active one counts.',
    );
  }
  const allowed = choice.ouIds ?? [...(await choice.organisationUnits(false))];
  // The log shortens no choice: of two OUs, one of which has just ended, the other is not taken unasked.
  const only = allowed.length === 1 ? workingUnit(allowed, choice.knownActiveOuId) : null;
  if (only !== null && !choice.hasEnded(only)) return only;
  const active = await choice.activeOuId();
  if (active !== null) {
    if (await mayUse(choice, active)) return active;
    throw problem(
      'org_unit_not_selected',
      `The active organizational unit of this credential, ${active}, has ended or may not be used by it. Set another one with POST /org-units/active, or name one in the header X-OU-Id.`,
    );
  }
  throw problem(
    'org_unit_not_selected',
    'This credential may use several organizational units and none is active. Set one with POST /org-units/active, or name it in the header X-OU-Id.',
  );
}

/**
 * An OU in the path.
 * @throws ProblemError 404 when the credential may not use it
 */
export async function orgUnitInPath(choice: OrgUnitChoice, ouId: string): Promise<string> {
  if (await mayUse(choice, ouId.toLowerCase())) return ouId.toLowerCase();
  throw problem(
    'org_unit_not_found',
    `The path names the organizational unit ${ouId}, and there is none of this id that this credential may use. GET /org-units lists them.`,
  );
}

async function mayUse({ ouIds, organisationUnits, hasEnded }: OrgUnitChoice, ouId: string): Promise<boolean> {
  if (hasEnded(ouId)) return false;
  if (ouIds) return ouIds.includes(ouId);
  // One that was created a moment ago by another instance is not missing.
  return (await organisationUnits(false)).has(ouId) || (await organisationUnits(true)).has(ouId);
}
