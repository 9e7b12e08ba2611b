// Folds alias events into a state that holds all of them: what the service's own, which looks most of them up, must do as well.
import type { IntakeEvent } from '../intake/events.js';
import { addClaim, type AliasState } from '../intake/state.js';

export function emptyAliasState(): AliasState {
  return { redirects: new Map(), claims: new Map() };
}

/** Changes the state in place. Applying an event again changes nothing. */
export function evolveAliases(state: AliasState, event: IntakeEvent): void {
  switch (event.type) {
    case 'EventsIngested':
    case 'EventsRemembered':
    case 'RepeatsDropped':
      return;
    case 'AliasClaimed':
      addClaim(state.claims, event.payload.lead_id, event.payload.alias_lead_id);
      return;
    case 'LeadDeleted':
      state.redirects.delete(event.payload.lead_id);
      state.claims.delete(event.payload.lead_id);
      return;
    case 'AliasLinked':
      state.redirects.set(event.payload.alias_lead_id, {
        lead_id: event.payload.lead_id,
        alias: event.payload.alias,
      });
      return;
    default:
      event satisfies never;
  }
}
