// The workspaces of the checkout, and those of them and the services that a changed source file affects.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNames, type ServiceName } from '@lead-scoring/contracts';

export interface Workspace {
  /** `packages/event-log`. */
  folder: string;
  /** `@lead-scoring/event-log`. */
  name: string;
  /** The names of the packages that it needs at run time; those that only its tests need are not among them. */
  dependencies: readonly string[];
}

export interface AffectedWorkspaces {
  /** The folders to build. */
  folders: string[];
  /** The services to restart. */
  services: ServiceName[];
}

/** Every folder of packages/ and services/, as its package.json declares it. */
export function readWorkspaces(root: string): Workspace[] {
  return ['packages', 'services'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((entry) => {
      const folder = `${parent}/${entry}`;
      const { name, dependencies = {} } = JSON.parse(
        readFileSync(join(root, folder, 'package.json'), 'utf8'),
      ) as { name: string; dependencies?: Record<string, string> };
      return { folder, name, dependencies: Object.keys(dependencies) };
    }),
  );
}

/**
 * A service's file affects that service; a package's file every service that depends on the package, also through other packages.
 * A test file and a file that only tests use are built and restart nothing.
 *
 * @param files paths from the root of the checkout
 */
export function affectedBy(workspaces: readonly Workspace[], files: readonly string[]): AffectedWorkspaces {
  const folders = new Set<string>();
  const services = new Set<ServiceName>();
  for (const file of files) {
    const changed = workspaces.find(({ folder }) => file.startsWith(`${folder}/`));
    if (!changed) continue;
    folders.add(changed.folder);
    if (isOnlyForTests(file)) continue;
    for (const service of serviceNames) {
      const own = workspaces.find(({ folder }) => folder === `services/${service}`);
      if (!own || !isOrDependsOn(workspaces, own, changed.name)) continue;
      folders.add(own.folder);
      services.add(service);
    }
  }
  return { folders: [...folders], services: [...services] };
}

function isOnlyForTests(file: string): boolean {
  return /\.test\.ts$|\/src\/testing\//.test(file);
}

/** Whether a workspace has that name or depends on the workspace that has it. Dependencies have no cycles. */
function isOrDependsOn(workspaces: readonly Workspace[], from: Workspace, name: string): boolean {
  return (
    from.name === name ||
    workspaces.some((next) => from.dependencies.includes(next.name) && isOrDependsOn(workspaces, next, name))
  );
}
