// Who may call an operation, as the OpenAPI document says it.
import type { Role, Scope } from '../records/gateway.js';
import type { RouteDeclaration } from '../routes/route.js';

export interface RequiredAccess {
  security: Record<string, string[]>[];
  /** The least role of a member who calls it. */
  'x-required-role'?: Role;
  /** The scope of a service account that calls it; absent: none may. */
  'x-required-scope'?: Scope;
}

export function requiredAccessOf({ access }: Pick<RouteDeclaration, 'access'>): RequiredAccess {
  if (!access.credential) return { security: [] };
  const { role, scope } = access;
  if (scope === null) return { security: [{ bearer: [] }], 'x-required-role': role };
  return { security: [{ bearer: [] }, { basic: [] }], 'x-required-role': role, 'x-required-scope': scope };
}
