// The handlers of the declared routes, by kind.
import { routeDeclarations, type RouteDeclaration } from '@lead-scoring/contracts';
import { commandBuilders } from './commands/commands.js';
import { createCommandHandler, type CommandDependencies } from './commands/handler.js';
import { createImportHandler, type ImportHandlerDependencies } from './import/handler.js';
import { createIntakeHandler } from './intake/handler.js';
import { createLeadImportHandler } from './lead-import/handler.js';
import type { Forwarder } from './reads/forward.js';
import { localHandlerOf, type LocalHandlers } from './reads/local.js';
import type { RouteHandler } from './router.js';
import { createSegmentHandler, segmentRoutes } from './segment/handler.js';

export interface RouteHandlerDependencies {
  commands: CommandDependencies;
  intake: ImportHandlerDependencies;
  forwarder: Forwarder;
  local: LocalHandlers;
}

/** @returns a function that returns undefined for a route without a handler */
export function createRouteHandlers({
  commands,
  intake,
  forwarder,
  local,
}: RouteHandlerDependencies): (route: RouteDeclaration) => RouteHandler | undefined {
  const intakeHandlers = createIntakeHandlers(intake, forwarder);
  return (route) => {
    switch (route.kind) {
      case 'intake':
        return intakeHandlers.get(route.name);
      case 'command':
        return commandHandlerOf(route, commands);
      case 'query':
        return route.owner === 'gateway'
          ? undefined
          : (req, res, ouId) => forwarder.forward(route, req, res, ouId).then(() => undefined);
      case 'local': {
        const handle = localHandlerOf(route, local);
        return handle && ((req, res, ouId) => handle(req, res, ouId).then(() => undefined));
      }
    }
  };
}

function createIntakeHandlers(
  dependencies: ImportHandlerDependencies,
  forwarder: Forwarder,
): ReadonlyMap<string, RouteHandler> {
  const { ingest, importEvents, previewLeadImport } = routeDeclarations;
  const take = createIntakeHandler(dependencies);
  const takeImport = createImportHandler(dependencies);
  const takeTable = createLeadImportHandler({ ...dependencies, forwarder });
  const ofSegment = segmentRoutes.map(([route, type]): [string, RouteHandler] => {
    const takeMessages = createSegmentHandler(route, type, dependencies);
    return [route.name, (req, _res, ouId) => takeMessages(req, requiredUnit(ouId))];
  });
  return new Map<string, RouteHandler>([
    ...ofSegment,
    [ingest.name, (req, _res, ouId) => take(req, requiredUnit(ouId))],
    [importEvents.name, (req, _res, ouId) => takeImport(req, requiredUnit(ouId))],
    [previewLeadImport.name, (req, _res, ouId) => takeTable(req, requiredUnit(ouId))],
  ]);
}

function commandHandlerOf(
  route: RouteDeclaration,
  dependencies: CommandDependencies,
): RouteHandler | undefined {
  const build = Object.entries(commandBuilders).find(([name]) => name === route.name)?.[1];
  if (!build) return undefined;
  const handle = createCommandHandler(route, build, dependencies);
  return (req, _res, ouId) => handle(req, ouId);
}

function requiredUnit(ouId: string | undefined): string {
  if (ouId === undefined) throw new Error('events belong to an OU');
  return ouId;
}
