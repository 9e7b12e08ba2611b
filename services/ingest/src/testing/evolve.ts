// Folds alias events into a state with all redirects and claims: the reference for the service, which looks most of them up.
import type { IntakeEvent } from '../intake/messages.js';
import { addClaim, type AliasState } from '../intake/state.js';

export function emptyAliasState(): AliasState {
  return { redirects: new Map(), claims: new Map(), counts: new Map() };
}

/** Changes the state in place. Applying an event again changes nothing. */
export function evolveAliases(state: AliasState, event: IntakeEvent): void {
  switch (event.type) {
    case 'EventsIngested':
    case 'EventsRemembered':
    case 'RepeatsDropped':
    case 'EventsCounted':
    case 'AliasesRefused':
    case 'LeadConflicted':
    case 'LeadDivided':
    case 'LeadMetadataPatched':
      return;
    case 'AliasClaimed': {
      const { ou_id, lead_id, alias_lead_id } = event.payload;
      if (!state.claims.get(lead_id)?.has(alias_lead_id)) count(state, ou_id, 1);
      addClaim(state.claims, lead_id, alias_lead_id);
      return;
    }
    case 'LeadDeleted':
      if (event.payload.joined_to !== undefined) return;
      count(state, event.payload.ou_id, -(state.claims.get(event.payload.lead_id)?.size ?? 0));
      state.redirects.delete(event.payload.lead_id);
      state.claims.delete(event.payload.lead_id);
      return;
    case 'AliasUnlinked':
      state.redirects.delete(event.payload.alias_lead_id);
      return;
    case 'AliasLinked':
      state.redirects.set(event.payload.alias_lead_id, {
        lead_id: event.payload.lead_id,
        alias: event.payload.alias,
        linked_at: event.payload.linked_at,
      });
      return;
    default:
      event satisfies never;
  }
}

function count({ counts }: AliasState, ouId: string, by: number): void {
  const sum = (counts.get(ouId) ?? 0) + by;
  if (sum === 0) counts.delete(ouId);
  else counts.set(ouId, sum);
}
