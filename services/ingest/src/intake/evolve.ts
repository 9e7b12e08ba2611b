// Folds alias events into a partition's state. Applying one again changes nothing.
import type { IntakeEvent } from './events.js';
import { addClaim, type AliasState } from './state.js';

/** Changes the state in place: it is the partition's own and may hold very many aliases. */
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
