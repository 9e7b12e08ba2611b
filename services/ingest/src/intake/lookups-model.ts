// The keys that must be looked up to decide on a batch of commands. Pure.
import { isAnonymous, leadIdOf } from '@lead-scoring/contracts';
import type { IntakeCommand } from './messages.js';
import { eventKey, historyKey, type HistoryPlace, type LookedUpAliases } from './state.js';

/** Events that may be repeats of stored events. */
export function possibleRepeats(commands: readonly IntakeCommand[]): { lead_id: string; id: string }[] {
  const found = new Map<string, { lead_id: string; id: string }>();
  for (const command of commands) {
    if (command.type !== 'IngestEvents') continue;
    for (const { may_repeat, lead_id, id } of command.payload.events)
      if (may_repeat === true) found.set(eventKey(lead_id, id), { lead_id, id });
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

/** The leads of anonymous aliases that events name for the first time together with a known alias. */
export function possibleVisitors(
  commands: readonly IntakeCommand[],
  { claims }: Pick<LookedUpAliases, 'claims'>,
): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type !== 'IngestEvents') continue;
    for (const { lead_id, aliases } of payload.events)
      for (let index = 1; index < aliases.length; index += 1) {
        const [named, alias] = [aliases[0], aliases[index]];
        if (!named || !alias || isAnonymous(named) || !isAnonymous(alias)) continue;
        const aliasLeadId = leadIdOf(payload.ou_id, alias.alias_kind, alias.alias);
        if (!claims.get(lead_id)?.has(aliasLeadId)) found.add(aliasLeadId);
      }
  }
  return [...found];
}

/** Leads that may be redirected. */
export function possibleRedirects(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type === 'IngestEvents') for (const { lead_id } of payload.events) found.add(lead_id);
    else if (type === 'DeleteLead') found.add(payload.lead_id);
    else if (type === 'LinkAlias' || type === 'JoinLead' || type === 'UnlinkAlias')
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
  for (const { type, payload } of commands) {
    if (type !== 'IngestEvents' && type !== 'DeleteLead') continue;
    for (const { lead_id, forwarded_by } of type === 'IngestEvents' ? payload.events : [payload]) {
      const from = forwarded_by?.at(-1);
      if (from !== undefined) add(lead_id, from);
    }
    if (type === 'DeleteLead') continue;
    for (const { lead_id, linked_by, aliases } of payload.events) {
      if (linked_by !== undefined) add(lead_id, linked_by);
      for (let index = 1; index < aliases.length; index += 1) {
        const alias = aliases[index];
        if (alias) add(lead_id, leadIdOf(payload.ou_id, alias.alias_kind, alias.alias));
      }
    }
  }
  return [...found.values()];
}

/** OUs whose leads may claim aliases: their counts of claims are needed. */
export function possibleClaimers(commands: readonly IntakeCommand[]): Set<string> {
  const found = new Set<string>();
  for (const { type, payload } of commands)
    if (type === 'IngestEvents' && payload.events.some(({ aliases }) => aliases.length > 1))
      found.add(payload.ou_id);
  return found;
}
