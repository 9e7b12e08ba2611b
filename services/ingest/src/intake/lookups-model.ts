// The keys that must be looked up to decide on a batch of commands. Pure.
import { isAnonymous, leadIdOf, type Alias, type records } from '@lead-scoring/contracts';
import type { ForwardingPath } from './aliases-model.js';
import type { IntakeCommand } from './messages.js';
import { isOfPast } from './repeats-model.js';
import { eventKey, historyKey, type HistoryPlace, type LookedUpAliases } from './state.js';

/** Events that may be repeats of stored events. */
export function possibleRepeats(commands: readonly IntakeCommand[]): { lead_id: string; id: string }[] {
  return eventsThat(commands, (event) => !isOfPast(event));
}

/** Events that are sent by one lead to another, or back, and may be repeats of what the other has kept since its last end. */
export function possiblePasts(commands: readonly IntakeCommand[]): { lead_id: string; id: string }[] {
  return eventsThat(commands, isOfPast);
}

function eventsThat(
  commands: readonly IntakeCommand[],
  isWanted: (event: records.ChunkEvent) => boolean,
): { lead_id: string; id: string }[] {
  const found = new Map<string, { lead_id: string; id: string }>();
  for (const command of commands) {
    if (command.type !== 'IngestEvents') continue;
    for (const event of command.payload.events) {
      const { may_repeat, lead_id, id } = event;
      if (may_repeat === true && isWanted(event)) found.set(eventKey(lead_id, id), { lead_id, id });
    }
  }
  return [...found.values()];
}

/** Leads that may be deleted: their stored data is needed. */
export function possibleDeletions(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type === 'DeleteLead') found.add(payload.lead_id);
    else if (type === 'UnlinkAlias') found.add(payload.alias_lead_id);
  }
  return [...found];
}

/** Visitors who may join other leads: the next of their records are needed. */
export function possibleJoins(commands: readonly IntakeCommand[]): HistoryPlace[] {
  const found = new Map<string, HistoryPlace>();
  const add = (place: HistoryPlace) => found.set(historyKey(place), place);
  for (const { type, payload } of commands)
    if (type === 'JoinLead') add(payload);
    else if (type === 'LinkAlias' && payload.takes_past === true) add({ ...payload, from: 0 });
  return [...found.values()];
}

/** Leads that may be linked, joined or divided: whether they exist is needed. */
export function possibleLeads(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands)
    if (type === 'MergeLead' || type === 'DivideLead') found.add(payload.lead_id);
    else if (type === 'LinkAlias' && payload.takes_past !== true && !isAnonymous(payload.alias))
      found.add(payload.alias_lead_id);
  return [...found];
}

/** Leads for which metadata may be set: whether they have events is needed. */
export function possiblePatches(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands)
    if (type === 'PatchLeadMetadata' || type === 'CarryLeadMetadata') found.add(payload.lead_id);
  return [...found];
}

/** Leads whose metadata may change, or goes along to another lead. */
export function possibleMetadata(commands: readonly IntakeCommand[]): string[] {
  const found = new Set(possiblePatches(commands));
  for (const { type, payload } of commands)
    if (type === 'SendDivided') found.add(payload.lead_id);
    else if (type === 'JoinLead' || (type === 'LinkAlias' && payload.takes_past === true))
      found.add(payload.alias_lead_id);
  return [...found];
}

/** Leads whose last deletion is needed, because events come back to them from a lead that is divided. */
export function possibleReturns(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands)
    if (type === 'UnmergeLead') found.add(payload.alias_lead_id);
    else if (type === 'DivideLead') found.add(payload.lead_id);
    else if (type === 'CarryLeadMetadata' && payload.after !== undefined) found.add(payload.lead_id);
    else if (type === 'IngestEvents')
      for (const { lead_id, after } of payload.events) if (after !== undefined) found.add(lead_id);
  return [...found];
}

/** Leads that are being divided: the next of their records are needed. */
export function possibleDivisions(commands: readonly IntakeCommand[]): records.SendDivided[] {
  return commands.flatMap((command) => (command.type === 'SendDivided' ? [command.payload] : []));
}

/** The leads of anonymous aliases that events name for the first time together with a known alias. */
export function possibleVisitors(
  commands: readonly IntakeCommand[],
  { claims }: Pick<LookedUpAliases, 'claims'>,
): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type !== 'IngestEvents') continue;
    for (const { event, alias, alias_lead_id } of furtherAliases(payload)) {
      const [named] = event.aliases;
      if (!named || isAnonymous(named) || !isAnonymous(alias)) continue;
      if (!claims.get(event.lead_id)?.has(alias_lead_id)) found.add(alias_lead_id);
    }
  }
  return [...found];
}

/** Leads that may be redirected. */
export function possibleRedirects(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type === 'IngestEvents') for (const { lead_id } of payload.events) found.add(lead_id);
    else if (type === 'DeleteLead' || type === 'MergeLead' || type === 'DivideLead')
      found.add(payload.lead_id);
    else if (type === 'PatchLeadMetadata' || type === 'CarryLeadMetadata') found.add(payload.lead_id);
    else if (type === 'LinkAlias' || type === 'JoinLead' || type === 'UnlinkAlias' || type === 'UnmergeLead')
      found.add(payload.alias_lead_id);
  }
  return [...found];
}

/** Claims that may exist, besides those of leads that may be deleted. */
export function possibleClaims(
  commands: readonly IntakeCommand[],
): { lead_id: string; alias_lead_id: string }[] {
  const found = new Map<string, { lead_id: string; alias_lead_id: string }>();
  const add = (lead_id: string, alias_lead_id: string) => {
    found.set(`${lead_id}${alias_lead_id}`, { lead_id, alias_lead_id });
  };
  for (const command of commands) {
    const { type, payload } = command;
    if (type === 'MergeLead') add(payload.lead_id, payload.alias_lead_id);
    if (type === 'CarryLeadMetadata' && payload.linked_by !== undefined)
      add(payload.lead_id, payload.linked_by);
    for (const { lead_id, forwarded_by } of forwardedIn(command)) {
      const from = forwarded_by?.at(-1);
      if (from !== undefined) add(lead_id, from);
    }
    if (type !== 'IngestEvents') continue;
    for (const { lead_id, linked_by } of payload.events) if (linked_by !== undefined) add(lead_id, linked_by);
    for (const { event, alias_lead_id } of furtherAliases(payload)) add(event.lead_id, alias_lead_id);
  }
  return [...found.values()];
}

/** What goes on to the lead that its own lead has joined: events, and commands. */
function forwardedIn({ type, payload }: IntakeCommand): readonly ForwardingPath[] {
  switch (type) {
    case 'IngestEvents':
      return payload.events;
    case 'DeleteLead':
    case 'PatchLeadMetadata':
    case 'CarryLeadMetadata':
      return [payload];
    default:
      return [];
  }
}

/** OUs whose leads may claim aliases: their counts of claims are needed. */
export function possibleClaimers(commands: readonly IntakeCommand[]): Set<string> {
  const found = new Set<string>();
  for (const { type, payload } of commands)
    if (type === 'IngestEvents' && payload.events.some(({ aliases }) => aliases.length > 1))
      found.add(payload.ou_id);
  return found;
}

/** The aliases that events name besides the first, each with the lead that it names without a redirect. */
function* furtherAliases({ ou_id, events }: records.IngestEvents): Generator<FurtherAlias> {
  for (const event of events)
    for (let index = 1; index < event.aliases.length; index += 1) {
      const alias = event.aliases[index];
      if (alias) yield { event, alias, alias_lead_id: leadIdOf(ou_id, alias.alias_kind, alias.alias) };
    }
}

interface FurtherAlias {
  readonly event: records.ChunkEvent;
  readonly alias: Alias;
  readonly alias_lead_id: string;
}
