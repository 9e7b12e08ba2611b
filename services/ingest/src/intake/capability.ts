// Intake as a policy on the service's own commands. It decides on a whole batch, because grouping events makes it fast.
import { policy, type CapabilityDecision, type OpenCapability } from '@lead-scoring/capability';
import type { RecordDeclaration } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import type { Aliases, aliasesProjection } from '../aliases/capability.js';
import type { eventStore } from '../events/capability.js';
import { decideIntake } from './decide.js';
import {
  possibleDeletions,
  possibleDivisions,
  possibleJoins,
  possibleLeads,
  possibleMetadata,
  possiblePatches,
  possiblePasts,
  possibleRepeats,
  possibleReturns,
  possibleVisitors,
} from './lookups-model.js';
import { intakeCommands, intakeEvents, type IntakeCommand, type IntakeEvent } from './messages.js';
import { StoredLeads } from './stored-leads.js';

/** The headers that are passed on with a command that another partition must answer. */
const headersPassedOn = ['id', 'ou', 'actor', 'correlation-id', 'reply-to'] as const;

export interface IntakeDependencies {
  /** The projection that folds the intake's events, and need not read what the intake has read. */
  events: ReturnType<typeof eventStore>;
  /** The projection in whose cache leads and aliases are looked up. */
  aliases: ReturnType<typeof aliasesProjection>;
  /** The most aliases that the leads of an OU may claim in a partition. */
  aliasShare: number;
}

export function intake({ events, aliases, aliasShare }: IntakeDependencies) {
  return policy({
    name: 'intake',
    commands: intakeCommands,
    events: intakeEvents,
    collections: [],
    open: (scope) =>
      new Intake(
        new StoredLeads(scope.readModel, scope.opened(events).histories),
        scope.opened(aliases),
        aliasShare,
      ),
  });
}

class Intake implements OpenCapability {
  constructor(
    private readonly leads: StoredLeads,
    private readonly aliases: Aliases,
    private readonly aliasShare: number,
  ) {}

  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    // The runtime passes only commands of the types in `intakeCommands`.
    const commands = incoming as readonly (IncomingRecord & IntakeCommand)[];
    const [repeats, aliases] = await Promise.all([
      this.leads.repeatsAmong(possibleRepeats(commands)),
      this.aliases.lookUp(commands),
    ]);
    const [visitors, leads, deletions, keptSince, eventful, metadata] = await Promise.all([
      this.leads.withEvents(possibleVisitors(commands, aliases)),
      this.leads.unitsOf(possibleLeads(commands)),
      this.leads.deletionsOf(possibleReturns(commands)),
      this.leads.keptSince(possiblePasts(commands)),
      this.leads.eventfulUnitsOf(possiblePatches(commands)),
      this.leads.metadataOf(possibleMetadata(commands)),
    ]);
    const known = { ...aliases, visitors, leads, deletions, keptSince, eventful, metadata };
    const [storedLeads, pages, divided] = await Promise.all([
      this.leads.storedLeadsOf(possibleDeletions(commands), known),
      this.leads.historiesOf(possibleJoins(commands)),
      this.leads.dividedOf(possibleDivisions(commands), metadata),
    ]);
    const decision = decideIntake(commands, known, repeats, storedLeads, this.aliasShare, pages, divided);
    // Only deletions and patches have a caller that waits for the answer, and they are few.
    const asked = new Map<IntakeCommand, IncomingRecord>();
    for (const command of commands)
      if (command.type === 'DeleteLead' || command.type === 'PatchLeadMetadata') asked.set(command, command);
    return {
      outcome: 'decided',
      events: decision.events.map(eventRecord),
      isRepeat: decision.commands.length === 0 && decision.events.every(isOfRepeats),
      commands: decision.commands.map(({ lead_id, command, answers }) =>
        commandRecord(lead_id, command, answers && asked.get(answers)),
      ),
      replies: decision.replies.flatMap(({ to, reply }) => {
        const record = asked.get(to);
        return record ? [{ to: record, reply }] : [];
      }),
    };
  }
}

/** Whether an event says only that events had come before. */
function isOfRepeats({ type, payload }: IntakeEvent): boolean {
  return type === 'RepeatsDropped' || (type === 'EventsCounted' && payload.events === 0);
}

function eventRecord({ type, payload }: IntakeEvent): OutgoingRecord {
  const declaration: RecordDeclaration = intakeEvents[type];
  return outgoing(declaration, {
    key: type === 'AliasLinked' ? payload.alias_lead_id : payload.lead_id,
    payload,
  });
}

/** @param answers the record whose sender the other partition must answer */
function commandRecord(
  leadId: string,
  { type, payload }: IntakeCommand,
  answers: IncomingRecord | undefined,
): OutgoingRecord {
  const declaration: RecordDeclaration = intakeCommands[type];
  return outgoing(declaration, {
    key: leadId,
    ...(answers && { headers: callerHeadersOf(answers) }),
    payload,
  });
}

function callerHeadersOf({ headers }: IncomingRecord): Record<string, string> {
  return Object.fromEntries(
    headersPassedOn.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
